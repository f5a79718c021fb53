// The hidden verb `worker`: a job a message on the socket it was started with, an outcome a message
// back. Its stdout and stderr are a log that the parent reads when it dies.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/process/child.hpp"
#include "tools/exit_code.hpp"
#include "tools/session.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/warm/outcome.hpp"

namespace kiln::cli {

int worker(const std::string& candidate) {
  std::vector<std::string> warnings;
  Options options = service_options();
  options.policy.candidate = candidate;
  // Warnings travel with the outcome: the parent gives each once, whichever worker met it.
  options.log = [&warnings](LogLevel, std::string_view message) { warnings.emplace_back(message); };
  Service service(std::move(options));
  while (const std::optional<std::string> line = process::read_frame(process::kWorkerSocket)) {
    std::istringstream fields(*line);
    std::size_t index = 0;
    std::string arch;
    std::string signature;
    if (!(fields >> index >> arch >> signature)) {
      throw Error(ErrorCode::internal,
                  fmt::format("a worker was sent \"{}\", which is no job", *line));
    }
    Outcome outcome = do_job(service, {Signature::parse(signature), Arch::parse(arch)}, index);
    outcome.warnings.swap(warnings);
    if (!process::send_frame(process::kWorkerSocket, to_line(outcome))) return kFailed;
  }
  return kDone;
}

}  // namespace kiln::cli
