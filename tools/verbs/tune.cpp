// `kiln tune`: every candidate of a signature's kernel, checked, measured side by side, and the
// winner kept in a file that KILN_TUNING names.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/core/named_file.hpp"
#include "src/core/tuning.hpp"
#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/tune/contest.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/verify/device.hpp"
#include "tools/verify/examine.hpp"
#include "tools/verify/groups.hpp"
#include "tools/verify/random.hpp"
#include "tools/verify/timing.hpp"
#include "tools/verify/workload.hpp"

namespace kiln::cli {
namespace {

std::vector<std::string> chosen_names(const TuneOptions& options,
                                      const Signature& signature,
                                      const std::vector<std::string>& known,
                                      const Device& device) {
  if (known.empty()) {
    throw Error(ErrorCode::unavailable,
                fmt::format("'{}' on {} is planned one way alone: there is nothing to choose among",
                            signature.text(),
                            device.arch.text()));
  }
  if (options.candidates.empty()) return known;
  for (const std::string& name : options.candidates) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' has no candidate '{}'; there are {}",
                              signature.text(),
                              name,
                              fmt::join(known, ", ")));
    }
  }
  return options.candidates;
}

namespace fs = std::filesystem;

[[noreturn]] void refuse_store(const std::string& path) {
  throw Error(ErrorCode::io_error,
              fmt::format("cannot write {}: is its folder there and writable?", path));
}

// The choices that are in the file already. Asked before anything is measured too, so that minutes
// of measuring are not lost to a bad path.
Tuning choices_in(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) {
    constexpr std::size_t kLongest = std::size_t{64} << 20U;  // as Service reads it
    const NamedFile file = read_regular_file(path, kLongest);
    if (file.problem.empty()) return Tuning::parse(file.text, path);
    throw Error(ErrorCode::io_error, fmt::format("{} cannot keep choices: {}", path, file.problem));
  }
  if (!fs::is_directory(fs::absolute(path).parent_path(), error)) refuse_store(path);
  return {};
}

// Into the file, whose other choices stay.
void store(const std::string& path, TunedChoice choice) {
  Tuning tuning = choices_in(path);
  std::error_code error;
  tuning.choose(std::move(choice));
  const std::string temporary = fmt::format("{}.{}.tmp", path, std::random_device{}());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << tuning.text();
  file.close();
  if (file) fs::rename(temporary, path, error);
  if (!file || error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    refuse_store(path);
  }
}

std::string as_table(const TuneReport& report, bool colour) {
  Table table({{"candidate"}, {"tile"}, {"us", true}, {"of the planner's", true}, {"result"}});
  for (const TuneEntry& entry : report.entries) {
    const bool measured = entry.failure.empty();
    const bool winner = entry.name == report.winner;
    table.add({entry.name,
               entry.tile,
               measured ? fmt::format("{:.1f}", entry.microseconds) : "-",
               measured ? fmt::format("{:.3f}", entry.microseconds / report.planners_us) : "-",
               !measured ? Table::Cell(entry.failure, Colour::red)
               : winner  ? Table::Cell("fastest", Colour::green)
                         : Table::Cell("right")});
  }
  return table.text(colour);
}

// The planner's twice, which tells the noise; then the candidates.
std::vector<Subject> make_subjects(const Signature& signature,
                                   const std::vector<std::string>& names,
                                   int device) {
  std::vector<std::string> all{"", ""};
  all.insert(all.end(), names.begin(), names.end());
  std::vector<Subject> subjects;
  Progress progress(all.size());
  for (const std::string& name : all) {
    subjects.push_back(make_subject(name, signature, device));
    progress.advance(subjects.back().entry.name);
  }
  if (!subjects.front().prepared) {
    throw Error(ErrorCode::unavailable,
                "the planner's own kernel: " + subjects.front().entry.failure);
  }
  return subjects;
}

TuneReport new_report(const TuneOptions& options,
                      const Signature& signature,
                      const Device& device,
                      const std::optional<verify::Groups>& groups) {
  TuneReport report{device.name, device.arch.text(), signature.text()};
  report.rows = options.rows.value_or(verify::rows_worth_timing(signature));
  if (groups && groups->given()) {
    const std::vector<std::int64_t> sizes = groups->sizes(0, 0);
    report.rows = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  }
  report.groups = options.groups;
  return report;
}

void keep_winner(const TuneOptions& options, TuneReport& report) {
  if (options.store.empty() || report.winner.empty()) return;
  const auto best = std::find_if(report.entries.begin(),
                                 report.entries.end(),
                                 [&](const TuneEntry& each) { return each.name == report.winner; });
  store(
      options.store,
      {report.signature,
       report.arch,
       report.winner,
       report.device,
       best->microseconds,
       fmt::format(
           "{} rows{}", report.rows, report.groups.empty() ? "" : " in groups " + report.groups)});
  report.stored = options.store;
}

std::string conclusion(const TuneReport& report) {
  if (report.winner.empty()) {
    return fmt::format(
        "kiln: the planner's choice stands (two measurements of it differ by {:.1f}%)",
        100 * report.noise);
  }
  if (report.stored.empty())
    return fmt::format("kiln: {} is faster; --store FILE keeps it", report.winner);
  return fmt::format("kiln: {} is kept; KILN_TUNING={} uses it", report.winner, report.stored);
}

}  // namespace

int tune(const TuneOptions& options) {
  const Signature signature = Signature::parse(options.signature);
  if (!options.store.empty()) (void)choices_in(options.store);
  const std::uint64_t seed = options.seed.value_or(verify::fresh_seed());
  Service service(service_options());
  const Device device = service.device(options.device);
  const std::vector<std::string> names =
      chosen_names(options, signature, service.candidates(signature, device.arch), device);
  std::optional<verify::Groups> groups;
  if (!options.groups.empty()) groups = verify::Groups::parse(options.groups);

  const Driver driver = Driver::load();
  const verify::CurrentDevice current(driver, options.device);
  remark(fmt::format("kiln: {} ({}), seed {}", device.name, device.arch.text(), seed));
  std::vector<Subject> subjects = make_subjects(signature, names, options.device);
  check(subjects, driver, signature, groups, seed);

  TuneReport report = new_report(options, signature, device, groups);
  const Options given = service_options();
  verify::Timer timer(driver, device.arch, given.policy, given.nvrtc_folders);
  const verify::Workload workload(
      driver,
      signature,
      report.rows,
      seed,
      groups ? groups->sizes(report.rows, seed) : std::vector<std::int64_t>{});
  measure(subjects, timer, workload, options.rounds, seed);
  judge(report, subjects);
  keep_winner(options, report);
  print(options.json ? tune_document(report) : as_table(report, stdout_takes_colour()));
  remark(conclusion(report));
  const bool right = std::all_of(subjects.begin(), subjects.end(), [](const Subject& each) {
    return each.entry.failure.empty();
  });
  return right ? kDone : kFailed;
}

}  // namespace kiln::cli
