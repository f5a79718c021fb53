// Conformance of every family's digests: stable, and different as soon as anything that reaches the
// compiler is.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/testing.hpp"

namespace kiln::conformance {
namespace {

const Toolchain kToolchain{.major = 13, .minor = 0, .nvrtc_id = "11", .builtins_id = "22"};

// One digest for every single change of what reaches the compiler.
std::vector<Digest> digests_of_changes(const Family& family,
                                       const Closure& closure,
                                       const Arch& arch) {
  const CompileOptions standard = CompileOptions::standard();
  std::vector<Digest> all;
  const auto add = [&](std::string_view name,
                       int version,
                       const Closure& changed,
                       const CompileOptions& options,
                       const Arch& target) {
    all.push_back(
        digest(with_toolchain(make_key(name, version, changed, options, target), kToolchain)));
  };
  const auto add_closure = [&](const Closure& changed) {
    add(family.name, family.emitter_version, changed, standard, arch);
  };
  add_closure(closure);
  add("another_family", family.emitter_version, closure, standard, arch);
  add(family.name, family.emitter_version + 1, closure, standard, arch);
  add(family.name,
      family.emitter_version,
      closure,
      standard,
      Arch{arch.major, arch.minor + 1, arch.suffix});
  add(family.name,
      family.emitter_version,
      closure,
      standard,
      Arch{arch.major, arch.minor, arch.suffix == 'a' ? '\0' : 'a'});

  Closure changed = closure;
  changed.source.text += ' ';
  add_closure(changed);
  changed = closure;
  changed.source.entry += '_';
  add_closure(changed);
  for (std::size_t i = 0; i < closure.headers.size(); ++i) {
    const std::string text = std::string(closure.headers[i].text) + ' ';
    const std::string name = std::string(closure.headers[i].name) + '_';
    changed = closure;
    changed.headers[i].text = text;
    changed.headers[i].sha256.reset();  // known of the text as it was
    add_closure(changed);
    changed = closure;
    changed.headers[i].name = name;
    add_closure(changed);
    changed = closure;
    changed.headers.erase(changed.headers.begin() + static_cast<std::ptrdiff_t>(i));
    add_closure(changed);
  }
  for (std::size_t i = 0; i < standard.flags.size(); ++i) {
    CompileOptions options = standard;
    options.flags[i] += '_';
    add(family.name, family.emitter_version, closure, options, arch);
    options = standard;
    options.flags.erase(options.flags.begin() + static_cast<std::ptrdiff_t>(i));
    add(family.name, family.emitter_version, closure, options, arch);
  }
  return all;
}

TEST_CASE("the digest of every sample is stable and sensitive to every input") {
  for (const Case& c : cases()) {
    const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
    const std::optional<Plan> plan = c.fused(limits);
    if (!plan) continue;
    INFO(c.text());
    for (std::size_t stage = 0; stage < plan->stages.size(); ++stage) {
      const Closure closure = closure_of(*c.family, *plan, stage);
      const std::vector<Digest> all = digests_of_changes(*c.family, closure, limits.arch);
      CHECK(std::set<Digest>(all.begin(), all.end()).size() == all.size());
      CHECK(digests_of_changes(*c.family, closure_of(*c.family, *plan, stage), limits.arch) == all);
    }
  }
}

TEST_CASE("each field of the toolchain changes the digest, but not the kernel's half of it") {
  const Case c = cases().front();
  const DeviceLimits& limits = limits_of(Arch::parse("sm_90a"));
  const std::optional<Plan> plan = c.fused(limits);
  REQUIRE(plan);
  const Key key = key_of(*c.family, closure_of(*c.family, *plan, 0), limits.arch);
  std::vector<Toolchain> toolchains(5, kToolchain);
  toolchains[1].major = 14;
  toolchains[2].minor = 1;
  toolchains[3].nvrtc_id = "12";
  toolchains[4].builtins_id = "23";
  std::set<Digest> seen{digest(key)};
  for (const Toolchain& toolchain : toolchains) {
    CHECK(seen.insert(digest(with_toolchain(key, toolchain))).second);
    CHECK(digest(with_toolchain(key, toolchain)).kernel == digest(key).kernel);
  }
}

}  // namespace
}  // namespace kiln::conformance
