// Which candidate of its kernel a signature gets: what `kiln tune` measured, kept as a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// {"version": 1, "choices": [{"signature": "...", "arch": "sm_90a", "candidate": "...", ...}]}
// "device", "problem" and "microseconds" of a choice say where it came from; other keys are
// ignored.
struct TunedChoice {
  std::string signature;  // canonical text
  std::string arch;
  std::string candidate;
  std::string device;       // may be empty
  double microseconds = 0;  // may be 0
  std::string problem;      // rows and groups it was measured with; may be empty
};

class Tuning {
 public:
  // Throws Error{invalid_policy} that says which choice is bad and why. `place` is named in it.
  [[nodiscard]] static Tuning parse(std::string_view text, std::string_view place);

  // Empty: none.
  [[nodiscard]] std::string_view candidate(std::string_view signature, std::string_view arch) const;
  [[nodiscard]] const std::vector<TunedChoice>& choices() const noexcept { return choices_; }
  // Replaces the choice of the same signature and architecture.
  void choose(TunedChoice choice);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<TunedChoice> choices_;
};

}  // namespace kiln
