// The page and its states.
// SPDX-License-Identifier: Apache-2.0
#include "src/service/fork_mark.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <thread>

namespace kiln {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

ForkMark::ForkMark() {
  void* page =
      ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (::madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {  // Linux 4.14
    ::munmap(page, page_bytes());
    return;
  }
  mark_ = new (page) std::atomic<std::uint32_t>(kSettled);
}

ForkMark::~ForkMark() {
  if (mark_ != nullptr) ::munmap(mark_, page_bytes());
}

bool ForkMark::claim() noexcept {
  for (;;) {
    std::uint32_t state = kForked;
    if (mark_->compare_exchange_strong(state, kClaimed)) return true;
    if (state == kSettled) return false;
    std::this_thread::yield();
  }
}

void ForkMark::settle() noexcept { mark_->store(kSettled, std::memory_order_release); }
void ForkMark::give_up() noexcept { mark_->store(kForked, std::memory_order_release); }

}  // namespace kiln
