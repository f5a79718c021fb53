// What `kiln run` and `kiln tune` take.
// SPDX-License-Identifier: Apache-2.0
#include "tools/gpu_options.hpp"

#include <cstdint>
#include <string>

#include <kiln/error.hpp>

#include "tools/command_examples.hpp"
#include "tools/verify/groups.hpp"

namespace kiln::cli {
namespace {

// What is wrong with the text, or nothing.
std::string groups_are_known(const std::string& text) {
  try {
    (void)verify::Groups::parse(text);
    return {};
  } catch (const Error& error) {
    return error.detail;
  }
}

constexpr const char* kGroups =
    "Of a grouped GEMM's rows: 64, 64:balanced, 64:skewed, 64:one-empty, 64:zipf, or sizes: "
    "100,0,28";

}  // namespace

void add_run_options(CLI::App& app, RunOptions& options) {
  auto* sources = app.add_option_group("What to run (at least one)");
  sources->require_option(1, 0);
  sources->add_option("signature", options.signature, kSignature);
  sources->add_option("--recipe", options.recipes, "File with signatures; may be repeated")
      ->allow_extra_args(false);
  const auto count = CLI::Range(std::int64_t{0}, std::int64_t{1} << 40);
  app.add_option(
         "--rows", options.rows, "Rows to check and time; default: 1031 to check, 400 MB to time")
      ->check(count);
  app.add_option("--check-rows", options.check_rows, "Rows to check, when fewer than --rows")
      ->check(count);
  app.add_option("--groups", options.groups, kGroups)->check(groups_are_known);
  app.add_option("--candidate", options.candidate, kCandidate);
  app.add_option("--route", options.route, "auto or composed")
      ->check(CLI::IsMember({"auto", "composed"}));
  app.add_option("--repeat", options.repeat, "Further runs that must give the same bits")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the random data; default: a fresh one, printed");
  app.add_option("--device", options.device, "Ordinal of the GPU")->check(CLI::Range(0, 1024));
  app.add_option("--extra-stride", options.extra_stride, "Elements between rows")
      ->check(CLI::Range(0, 65536));
  app.add_option("--misalign", options.misalign, "Elements every base is moved by")
      ->check(CLI::Range(0, 256));
  app.add_flag("--no-time", options.no_time, "Check only");
  app.footer(kRunExamples);
}

void add_tune_options(CLI::App& app, TuneOptions& options) {
  app.add_option("signature", options.signature, kSignature)->required();
  app.add_option("--rows", options.rows, "Rows to time; default: 400 MB")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  app.add_option("--groups", options.groups, kGroups)->check(groups_are_known);
  app.add_option("--candidates", options.candidates, "Which to measure; default: all")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--rounds", options.rounds, "Over all candidates, each in an order of its own")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--store", options.store, "File that keeps the winner, for KILN_TUNING");
  app.add_option("--seed", options.seed, "Of the random data; default: a fresh one, printed");
  app.add_option("--device", options.device, "Ordinal of the GPU")->check(CLI::Range(0, 1024));
  app.footer(kTuneExamples);
}

}  // namespace kiln::cli
