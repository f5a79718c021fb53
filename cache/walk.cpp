// Going through the files of all fan-out folders, by several threads where there are many.
// SPDX-License-Identifier: Apache-2.0
#include "cache/walk.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>

namespace kiln::cache {
namespace {

// Removing takes the kernel 8 us a file and more, in each folder on its own.
constexpr std::int64_t kManyEntries = 10'000;
constexpr unsigned kMostThreads = 4;

}  // namespace

void visit_files(const Root& root, std::size_t number, const VisitFile& visit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<char, 3> name = {kDigits[number / 16], kDigits[number % 16], '\0'};
  const Descriptor folder = open_folder_at(root.entries.get(), name.data());
  if (!folder) return;
  visit_folder(folder.get(), [&](const char* file) {
    struct stat status {};
    if (!is_entry_file(file)) return;
    if (::fstatat(folder.get(), file, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISREG(status.st_mode)) visit(folder.get(), file, status);
  });
}

void share_folders(std::size_t begin,
                   std::int64_t entries,
                   const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{begin};
  const auto run = [&] {
    for (std::size_t number = next++; number < kFanOut; number = next++) work(number);
  };
  const auto help = [&]() noexcept {
    try {
      run();
    } catch (const std::bad_alloc&) {
      // What is left is taken by the next gc.
    }
  };
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
  const unsigned helpers = entries < kManyEntries ? 0 : std::min(cores, kMostThreads) - 1;
  std::vector<std::jthread> threads;
  try {
    for (unsigned i = 0; i < helpers; ++i) threads.emplace_back(help);
  } catch (const std::system_error&) {
    // As many as there can be.
  }
  run();
}

}  // namespace kiln::cache
