// The program kiln-worker: compiles what arrives on a socket, for a process that must not load
// NVRTC itself. Nobody calls it by hand.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include <kiln/error.hpp>

#include "src/cuda/compile_wire.hpp"
#include "src/process/child.hpp"

namespace {

using namespace kiln;

constexpr unsigned kMostSeconds = 900;

CompileAnswer perform(const OwnedRequest& owned, std::map<std::string, Nvrtc>& loaded) {
  auto known = loaded.find(owned.files.nvrtc_path);
  if (known == loaded.end()) {
    known = loaded.emplace(owned.files.nvrtc_path, Nvrtc::load(owned.files)).first;
  }
  CompileAnswer answer;
  answer.id = known->second.id;
  answer.uncacheable_reason = known->second.uncacheable_reason;
  // Should the process that asked be gone, nobody else would end a compile that hangs.
  ::alarm(kMostSeconds);
  if (!owned.load_only) answer.result = compile(known->second, owned.request());
  ::alarm(0);
  return answer;
}

std::string answer_to(const std::string& message, std::map<std::string, Nvrtc>& loaded) {
  try {
    return answer_message(perform(request_from(message), loaded));
  } catch (const Error& error) {
    return error_message(error);
  } catch (const std::exception& error) {
    return error_message(Error(ErrorCode::internal, error.what()));
  }
}

}  // namespace

int main() {
  std::map<std::string, Nvrtc> loaded;
  while (const std::optional<std::string> message = process::read_frame(process::kWorkerSocket)) {
    if (!process::send_frame(process::kWorkerSocket, answer_to(*message, loaded))) return 1;
  }
  return loaded.empty() ? std::fputs("kiln-worker is started by kiln, not by hand\n", stderr),
         2              : 0;
}
