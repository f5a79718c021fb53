// The hidden verb `worker`: a job a line on stdin, an outcome a line on stdout.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/exit_code.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/warm/outcome.hpp"

namespace kiln::cli {

int worker() {
  std::vector<std::string> warnings;
  Options options = service_options();
  // Warnings travel with the outcome: the parent gives each once, whichever worker met it.
  options.log = [&warnings](LogLevel, std::string_view message) { warnings.emplace_back(message); };
  Service service(std::move(options));
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream fields(line);
    std::size_t index = 0;
    std::string arch;
    std::string signature;
    if (!(fields >> index >> arch >> signature)) {
      throw Error(ErrorCode::internal,
                  fmt::format("a worker was sent \"{}\", which is no job", line));
    }
    Outcome outcome = do_job(service, {Signature::parse(signature), Arch::parse(arch)}, index);
    outcome.warnings.swap(warnings);
    print(to_line(outcome) + "\n");
  }
  return kDone;
}

}  // namespace kiln::cli
