// Starting points of the verbs.
// SPDX-License-Identifier: Apache-2.0
#include "tools/session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "tools/environment.hpp"
#include "tools/terminal.hpp"

namespace kiln::cli {
namespace {

// What the user wrote, in the spelling of Arch::text(): "90a" and "9.0" are sm_90a and sm_90.
bool spelled_like(std::string_view name, const Arch& arch) {
  const std::string text = arch.text();
  return name == text || "sm_" + std::string(name) == text ||
         name.find('.') != std::string_view::npos;
}

void add(std::vector<Arch>& archs, const Arch& arch) {
  if (std::find(archs.begin(), archs.end(), arch) == archs.end()) archs.push_back(arch);
}

void add_native(std::vector<Arch>& archs, Service& service) {
  try {
    const int count = service.device_count();
    if (count == 0) throw Error(ErrorCode::device_missing, "the driver sees no GPU");
    for (int i = 0; i < count; ++i) add(archs, service.device(i).arch);
  } catch (const Error& error) {
    if (error.code != ErrorCode::driver_missing && error.code != ErrorCode::device_missing) throw;
    throw Error(
        error.code,
        fmt::format("{}; without a GPU name an architecture, such as --arch sm_90a", error.detail));
  }
}

}  // namespace

Options service_options() {
  Options options;
  options.policy = Policy::from_env();
  options.nvrtc_folders = wheel_folders();
  return options;
}

std::vector<Arch> resolve_archs(const std::vector<std::string>& names, Service& service) {
  std::vector<Arch> archs;
  // Names first: a bad one is a bad request whether there is a GPU or not.
  for (const std::string& name : names) {
    if (name != "native") (void)Arch::parse(name);
  }
  for (const std::string& name : names) {
    if (name == "native") {
      add_native(archs, service);
      continue;
    }
    const Arch arch = Arch::parse(name);
    if (!spelled_like(name, arch)) remark(fmt::format("kiln: {} means {} here", name, arch.text()));
    add(archs, arch);
  }
  if (names.empty()) add_native(archs, service);
  return archs;
}

}  // namespace kiln::cli
