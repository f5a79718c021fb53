// What is kept of a description: the same as what is made anew, whoever asks, and never another's.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <kiln/described_op.hpp>
#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/formula.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"
#include "src/core/digest.hpp"
#include "tests/random_signatures.hpp"
#include "tests/testing.hpp"

namespace {

using namespace kiln;
namespace mix = kiln::mix_order_reduction;

const Arch kHopper{9, 0, 'a'};

// An op whose output is scaled by a number.
std::string scaled(const std::string& op, const std::string& factor) {
  return R"({"version": 1, "op": ")" + op +
         R"(", "inputs": [{"name": "x", "shape": "matrix", "type": "x"}], "formula": ["y = x * )" +
         factor + R"("], "outputs": [{"name": "y", "shape": "matrix", "type": "x"}]})";
}

std::string source_of(const std::string& text) {
  const Signature signature = Signature::parse(text);
  const PlanResult planned = mix::plan(signature, limits_of(kHopper), {});
  REQUIRE(std::holds_alternative<Plan>(planned));
  return mix::emit(std::get<Plan>(planned), 0).text;
}

std::string digest_of(const std::string& text) {
  const Closure closure =
      close_includes({.text = source_of(text), .entry = "entry"}, embedded_files());
  return digest(make_key("family", 1, closure, CompileOptions::standard(), kHopper)).kernel_hex();
}

TEST_CASE("what is kept for a signature is what is made anew from its description") {
  std::mt19937 random(3);
  const Family& family = find_family("absmax");
  for (int i = 0; i < 2'000; ++i) {
    const Signature signature = kiln::testing::random_signature(family, 1 << 16, random);
    CAPTURE(signature.text());
    const mix::Op op = mix::Op::from(signature);
    const mix::Program program = mix::specialise(mix::description_of(signature.op), signature);
    REQUIRE(op.n == signature.integer("n"));
    REQUIRE(op.program == program);
    REQUIRE(op.variant->formula() == mix::fused_formula(program, mix::shape_of(program)));
  }
}

TEST_CASE("signatures that differ in n alone share what is kept, and no others do") {
  const auto variant = [](const std::string& keys) {
    return mix::variant_of(Signature::parse("rms_norm_backward:" + keys));
  };
  const auto one = variant("n=64");
  CHECK(one == variant("n=64"));
  CHECK(one == variant("n=65536"));
  CHECK(one->types() == "_bf16_bf16_bf16");
  for (const std::string keys :
       {"n=64,x=f32", "n=64,w=none", "n=64,residual=1", "n=64,accumulate=1", "n=64,gated=1"}) {
    CAPTURE(keys);
    CHECK(one != variant(keys));
    CHECK_FALSE(one->serves(Signature::parse("rms_norm_backward:" + keys)));
  }
}

TEST_CASE("more choices than are kept are served all the same, and memory stays bounded") {
  const mix::Description& description = mix::description_of("rms_norm_backward");
  mix::Variants variants;
  std::vector<Signature> signatures;
  std::set<std::string> seen;
  std::mt19937 random(5);
  const Family& family = find_family("rms_norm_backward");
  while (signatures.size() < mix::Variants::kMost + 20) {
    Signature signature = kiln::testing::random_signature(family, 1, random);
    if (signature.op != "rms_norm_backward" || !seen.insert(signature.text()).second) continue;
    signatures.push_back(std::move(signature));
  }
  std::vector<std::shared_ptr<const mix::Variant>> first;
  for (const Signature& signature : signatures)
    first.push_back(variants.of(description, signature));
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    CAPTURE(signatures[i].text());
    const auto again = variants.of(description, signatures[i]);
    CHECK((again == first[i]) == (i < mix::Variants::kMost));
    CHECK(again->program == first[i]->program);
    CHECK(again->serves(signatures[i]));
  }
}

TEST_CASE("threads that come at once get the same") {
  for (int round = 0; round < 20; ++round) {
    mix::Variants variants;
    const mix::Description& description = mix::description_of("softmax_backward");
    const Signature signature = Signature::parse("softmax_backward:n=64");
    std::vector<std::shared_ptr<const mix::Variant>> got(8);
    std::vector<const std::string*> formulas(got.size());
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < got.size(); ++i) {
      threads.emplace_back([&, i] {
        while (!go.load()) std::this_thread::yield();
        got[i] = variants.of(description, signature);
        formulas[i] = &got[i]->formula();
      });
    }
    go.store(true);
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < got.size(); ++i) {
      REQUIRE(got[i] == got[0]);
      REQUIRE(formulas[i] == formulas[0]);
    }
  }
}

TEST_CASE("an op that is refused under a name leaves the one that has it as it was") {
  register_op(scaled("kept_once", "2"), "a");
  const std::string before = digest_of("kept_once:n=64");
  CHECK_THROWS_AS(register_op(scaled("kept_once", "3"), "b"), Error);
  CHECK(digest_of("kept_once:n=64") == before);
  CHECK(register_op(scaled("kept_once", "2"), "c") == "kept_once");
  CHECK(digest_of("kept_once:n=64") == before);
  register_op(scaled("kept_too", "3"), "b");
  CHECK(source_of("kept_too:n=64") != source_of("kept_once:n=64"));
  CHECK(digest_of("kept_too:n=64") != before);
}

// In one process: which of two texts has the name depends on who came first, and so does the key.
TEST_CASE("a name that has another content in another process has another key there") {
  const auto digest_in_child = [](const std::string& factor) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      register_op(scaled("of_a_child", factor), "child");
      const std::string text = digest_of("of_a_child:n=64");
      ::_exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0
                                                                                              : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    std::string text(64, '\0');
    CHECK(::read(ends[0], text.data(), text.size()) == 64);
    ::close(ends[0]);
    ::close(ends[1]);
    return text;
  };
  CHECK(digest_in_child("2") != digest_in_child("3"));
  CHECK(digest_in_child("2") == digest_in_child("2"));
}

TEST_CASE("a child that is forked while threads register and plan goes on") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !stop.load() && i < 10'000; ++i) {
        mix::Variants variants;
        static_cast<void>(variants.of(mix::description_of("absmax"),
                                      Signature::parse("absmax:n=" + std::to_string(i + 1))));
        if (i < 50)
          register_op(scaled("forked_" + std::to_string(t) + "_" + std::to_string(i), "2"), "t");
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      register_op(scaled("in_child", "2"), "child");
      ::_exit(source_of("in_child:n=64").empty() || source_of("adaln_backward:n=64").empty());
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("every description that is built in is in a file of its op's name") {
  std::size_t files = 0;
  for (const EmbeddedFile& file : embedded_files())
    files += file.name.starts_with("kernels/mix_order_reduction/ops/") ? 1 : 0;
  std::size_t builtin = 0;
  for (const OpSpec* spec : mix::op_specs()) {
    builtin += mix::is_builtin(spec->name) ? 1 : 0;
    CHECK(mix::find_op_spec(spec->name) == spec);
  }
  CHECK(builtin == files);
  CHECK(mix::find_op_spec("") == nullptr);
  CHECK(mix::find_op_spec("../ops/absmax") == nullptr);
}

}  // namespace
