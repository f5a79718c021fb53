// The rules of a description: names, extents, conditions, and what may be absent.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/callees.hpp"
#include "kernels/mix_order_reduction/keys.hpp"
#include "src/core/diagnostics.hpp"

namespace kiln::mix_order_reduction {
namespace {

[[noreturn]] void fail(std::string_view place, std::string_view problem) {
  throw Error(ErrorCode::invalid_source, fmt::format("{}: {}", place, problem));
}

// What is known of a value before any signature is.
struct Traits {
  Extent extent = Extent::scalar;
  bool condition = false;
  std::set<std::string> keys{};  // that must be given for the value to exist
};

Traits merged(const Traits& a, const Traits& b) {
  Traits out{joined(a.extent, b.extent), false, a.keys};
  out.keys.insert(b.keys.begin(), b.keys.end());
  return out;
}

class Checker {
 public:
  explicit Checker(const Description& description) : d_(description) {}

  void run() {
    tensors();
    check_keys(d_);
    for (std::size_t i = 0; i < d_.keys.size(); ++i) {
      const std::string& key = d_.keys[i].name;
      if (keys_.insert(key).second) unused_[key] = fmt::format("{}, key {}", d_.where, i + 1);
    }
    for (std::size_t i = 0; i < d_.formula.size(); ++i) statement(i);
    outputs();
    for (const auto& [name, place] : unused_)
      fail(place, fmt::format("{} is used nowhere; leave it out", quote(name)));
  }

 private:
  // Name is free, and not a function's.
  void define(const std::string& name, std::string_view place) {
    if (find_function(name) != nullptr)
      fail(place, fmt::format("{} is a function; choose another name", quote(name)));
    if (names_.contains(name)) fail(place, fmt::format("{} is defined twice", quote(name)));
  }

  void tensor(const TensorDescription& t) {
    if (!parse_dtype(t.type)) types_.insert(t.type);
    if (!t.given.empty()) givers_.insert(t.given);
    if (!t.accumulate.empty()) keys_.insert(t.accumulate);
  }

  void tensors() {
    for (std::size_t i = 0; i < d_.inputs.size(); ++i) {
      const TensorDescription& t = d_.inputs[i];
      const std::string place = fmt::format("{}, input {}", d_.where, i + 1);
      define(t.name, place);
      tensor(t);
      Traits traits{t.extent, false, {}};
      if (!t.given.empty()) traits.keys.insert(t.given);
      names_[t.name] = std::move(traits);
      unused_[t.name] = place;
    }
    output_tensors();
    keys_.insert(types_.begin(), types_.end());
    keys_.insert(givers_.begin(), givers_.end());
  }

  void output_tensors() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < d_.outputs.size(); ++i) {
      const TensorDescription& t = d_.outputs[i];
      const std::string place = fmt::format("{}, output {}", d_.where, i + 1);
      define(t.name, place);
      tensor(t);
      if (!seen.insert(t.name).second)
        fail(place, fmt::format("{} is defined twice", quote(t.name)));
    }
  }

  void statement(std::size_t i) {
    const Statement& s = d_.formula[i];
    place_ = d_.place(i);
    define(s.name, place_);
    Traits traits;
    if (const std::optional<Callee> callee = reduction(s.value)) {
      traits = reduce(s, *callee);
    } else {
      traits = walk(s.value);
      if (traits.condition) refuse(place_, s.value.column, "a condition is not a value; select()");
    }
    const bool output = std::any_of(
        d_.outputs.begin(), d_.outputs.end(), [&](const auto& t) { return t.name == s.name; });
    if (!output) unused_[s.name] = place_;
    names_[s.name] = std::move(traits);
  }

  Traits reduce(const Statement& s, Callee callee) {
    arity(s.value, *find_function(s.value.text));
    Traits traits = value(s.value.operands[0]);
    if (traits.extent != Extent::matrix) {
      refuse(place_,
             s.value.column,
             fmt::format("{} needs a value that varies over rows and columns; this one is a {}",
                         quote(s.value.text),
                         to_string(traits.extent)));
    }
    traits.extent = reduces_row(callee) ? Extent::column : Extent::row;
    if (reduces_column(callee)) column_sums_[s.name] = callee;
    return traits;
  }

  void outputs() {
    for (std::size_t i = 0; i < d_.outputs.size(); ++i) {
      const TensorDescription& t = d_.outputs[i];
      const std::string place = fmt::format("{}, output {}", d_.where, i + 1);
      const auto found = names_.find(t.name);
      if (found == names_.end()) fail(place, fmt::format("no statement defines {}", quote(t.name)));
      const Traits& traits = found->second;
      if (traits.extent != t.extent) {
        fail(place,
             fmt::format("{} is said to be a {}, and its statement makes a {}",
                         quote(t.name),
                         to_string(t.extent),
                         to_string(traits.extent)));
      }
      if (t.extent == Extent::row && !column_sums_.contains(t.name))
        fail(place, fmt::format("{} must be a column reduction itself", quote(t.name)));
      const auto sum = column_sums_.find(t.name);
      if (!t.accumulate.empty() && (sum == column_sums_.end() || sum->second != Callee::column_sum))
        fail(place, "only column sums accumulate");
      for (const std::string& key : traits.keys) {
        if (key == t.given) continue;
        fail(place,
             fmt::format("{} needs what is there only with {}: say \"given\": {}, or guard it "
                         "with given({}, ..., ...)",
                         quote(t.name),
                         key,
                         quote(key),
                         key));
      }
    }
  }

  // A value, not a condition.
  Traits value(const Expression& e) {
    Traits traits = walk(e);
    if (traits.condition) refuse(place_, e.column, "a condition is not a value; select()");
    return traits;
  }

  Traits walk(const Expression& e) {
    switch (e.kind) {
      case Expression::Kind::number:
        return {};
      case Expression::Kind::name:
        return name(e);
      case Expression::Kind::negate:
        return value(e.operands[0]);
      case Expression::Kind::binary: {
        Traits out = merged(value(e.operands[0]), value(e.operands[1]));
        out.condition = e.text != "+" && e.text != "-" && e.text != "*" && e.text != "/";
        return out;
      }
      case Expression::Kind::call:
        return call(e);
    }
    return {};
  }

  Traits name(const Expression& e) {
    const auto found = names_.find(e.text);
    if (found == names_.end()) {
      std::vector<std::string_view> known;
      for (const auto& [one, traits] : names_) known.push_back(one);
      refuse(place_,
             e.column,
             fmt::format(
                 "{} is not defined before this{}", quote(e.text), did_you_mean(e.text, known)));
    }
    if (column_sums_.contains(e.text)) {
      refuse(place_,
             e.column,
             fmt::format("{} is known only when every row is done; it can only be an output",
                         quote(e.text)));
    }
    unused_.erase(e.text);
    return found->second;
  }

  void arity(const Expression& e, const Function& function) const {
    if (e.operands.size() == function.operands) return;
    refuse(place_,
           e.column,
           fmt::format("{} takes {} operand{}, not {}",
                       quote(e.text),
                       function.operands,
                       function.operands == 1 ? "" : "s",
                       e.operands.size()));
  }

  Traits call(const Expression& e) {
    const Function* function = find_function(e.text);
    if (function == nullptr) {
      std::vector<std::string_view> known;
      for (const Function& one : functions()) known.push_back(one.name);
      refuse(place_,
             e.column,
             fmt::format("there is no function {}{}; there are {}",
                         quote(e.text),
                         did_you_mean(e.text, known),
                         listed(known)));
    }
    arity(e, *function);
    if (reduces_row(function->callee) || reduces_column(function->callee)) {
      refuse(place_, e.column, "a reduction is a statement of its own: \"name = row_sum(...)\"");
    }
    if (function->callee == Callee::given) return given(e);
    if (function->callee == Callee::cast) return cast(e);
    std::size_t first = 0;
    Traits out;
    if (function->callee == Callee::select) {
      out = walk(e.operands[0]);
      if (!out.condition)
        refuse(place_, e.operands[0].column, "select() needs a condition first, such as a < b");
      first = 1;
    }
    for (std::size_t i = first; i < e.operands.size(); ++i) out = merged(out, value(e.operands[i]));
    return out;
  }

  // given(key, with, without): what needs the key may be in the first branch alone.
  Traits given(const Expression& e) {
    const Expression& key = e.operands[0];
    if (key.kind != Expression::Kind::name || !keys_.contains(key.text)) {
      std::vector<std::string_view> known(keys_.begin(), keys_.end());
      refuse(place_,
             key.column,
             fmt::format("given() needs a key first; the keys are {}", listed(known)));
    }
    unused_.erase(key.text);
    Traits with = value(e.operands[1]);
    with.keys.erase(key.text);
    return merged(with, value(e.operands[2]));
  }

  // cast(key, a): the key is a type whatever the signature says.
  Traits cast(const Expression& e) {
    const Expression& key = e.operands[0];
    if (key.kind != Expression::Kind::name || !types_.contains(key.text) ||
        givers_.contains(key.text)) {
      std::vector<std::string_view> known;
      for (const std::string& type : types_) {
        if (!givers_.contains(type)) known.push_back(type);
      }
      refuse(place_,
             key.column,
             fmt::format("cast() needs a key that is a type first{}{}",
                         known.empty() ? "; there is none" : "; there are ",
                         listed(known)));
    }
    return value(e.operands[1]);
  }

  const Description& d_;
  std::string place_;
  std::map<std::string, Traits> names_;
  std::map<std::string, std::string> unused_;  // and where each is defined
  std::set<std::string> keys_;
  std::set<std::string> types_;   // keys that are a tensor's type
  std::set<std::string> givers_;  // keys that make a tensor present
  std::map<std::string, Callee> column_sums_;
};

}  // namespace

void check(const Description& description) { Checker(description).run(); }

}  // namespace kiln::mix_order_reduction
