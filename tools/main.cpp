// The program `kiln`: errors become exit codes here and nowhere else.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/command_line.hpp"
#include "tools/documents.hpp"
#include "tools/exit_code.hpp"
#include "tools/terminal.hpp"

namespace {

int perform(const kiln::cli::Command& command) {
  using namespace kiln;
  try {
    if (command.run) return command.run();
    if (command.exit_code == cli::kDone) {
      cli::print(command.text);
    } else {
      std::fputs(command.text.c_str(), stderr);
    }
    return command.exit_code;
  } catch (const Error& error) {
    cli::remark(fmt::format("kiln: {}", error.what()));
    // Whoever asked for JSON gets JSON, unless stdout itself is the problem.
    if (command.json && error.code != ErrorCode::io_error) cli::print(cli::error_document(error));
    return cli::exit_code(error.code);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return perform(kiln::cli::parse_command_line(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kiln: internal: %s\n", error.what());
    return kiln::cli::kFailed;
  }
}
