// Chooses the embedded image that a device of an architecture loads.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/composed_images.hpp"

namespace kiln {
namespace {

// A cubin runs on its own architecture and on later minor versions of the same major one; one with
// a suffix runs on exactly its own.
bool cubin_runs_on(const Arch& built, const Arch& device) {
  if (built.major != device.major) return false;
  if (built.suffix != '\0') return built.minor == device.minor;
  return built.minor <= device.minor;
}

}  // namespace

const ComposedImage* find_composed(std::string_view family, const Arch& arch) noexcept {
  const ComposedImage* best = nullptr;
  for (const ComposedImage& image : composed_images()) {
    if (image.family != family) continue;
    if (image.ptx) {
      const bool newer = arch.major > image.arch.major ||
                         (arch.major == image.arch.major && arch.minor >= image.arch.minor);
      if (best == nullptr && newer) best = &image;
      continue;
    }
    if (!cubin_runs_on(image.arch, arch)) continue;
    if (best == nullptr || best->ptx || best->arch.minor < image.arch.minor) best = &image;
  }
  return best;
}

}  // namespace kiln
