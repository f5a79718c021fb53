// Every call that the store makes fails once with each plausible error, and comes short or fails
// after it was done: no crash, no hang, no wrong hit, and afterwards the cache works.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "cache/store.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/faults/shim.hpp"

namespace kiln::cache {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests
using std::chrono::milliseconds;

constexpr int kNotFired = 10;
constexpr unsigned kHangSeconds = 20;

struct Call {
  const char* name;
  std::array<int, 8> errors;  // up to the first 0; the first two are tried in CI
  bool transfers = false;
};

constexpr std::array<Call, 25> kCalls = {{
    {"openat", {ENOENT, EIO, EMFILE, ENFILE, EACCES, ESTALE, ENOSPC}},
    {"read", {EIO, EINTR, ESTALE, EISDIR}, true},
    {"pread", {EIO, EINTR, ESTALE}, true},
    {"write", {ENOSPC, EINTR, EIO, EDQUOT, EFBIG, ESTALE}, true},
    {"close", {EIO, EINTR, ENOSPC, EDQUOT}},
    {"fsync", {EIO, ENOSPC, EINVAL, EDQUOT, EROFS}},
    {"fstat", {EIO, ESTALE, ENOMEM}},
    {"fstatat", {ENOENT, EIO, EACCES, ESTALE}},
    {"stat", {ENOENT, EIO, EACCES, ESTALE}},
    {"mkdir", {EACCES, ENOSPC, EROFS, EDQUOT, EEXIST}},
    {"mkdirat", {ENOSPC, EROFS, EACCES, EDQUOT, EMLINK, EIO}},
    {"chmod", {EPERM, EROFS}},
    {"fchmod", {EPERM, EROFS, EIO}},
    {"fchmodat", {EPERM, EROFS, ENOENT}},
    {"renameat", {ENOENT, EIO, EXDEV, ENOSPC, ESTALE}},
    {"renameat2", {EINVAL, EEXIST, ENOSYS, ENOENT, ENOSPC, EIO, ESTALE}},
    {"unlinkat", {EIO, ENOENT, EACCES, EBUSY}},
    {"fcntl", {ENOLCK, EINTR, EINVAL, EAGAIN, EIO}},
    {"futimens", {EPERM, EROFS, EIO}},
    {"utimensat", {EPERM, EROFS, ENOENT}},
    {"faccessat", {EACCES, EIO, EROFS}},
    {"fdopendir", {EMFILE, ENOMEM, ENOTDIR}},
    {"readdir", {EIO, ESTALE}},
    {"realpath", {ENOENT, EIO, ELOOP, EACCES}},
    {"getrandom", {EINTR, ENOSYS}},
}};

Key key_of(int i) { return make_test_key("key " + std::to_string(i)); }
Cubin cubin_of(int i) { return make_test_cubin(6000, static_cast<std::uint32_t>(i + 1)); }

bool right(const std::optional<Found>& found, int i) {
  return !found || found->cubin == cubin_of(i);
}

// What a process may do to a cache. 0, or what went wrong.
int use(const fs::path& root) {
  Store store(options_at(root));
  if (!right(store.find(key_of(0)), 0)) return 20;
  if (!right(store.find(key_of(1)), 1)) return 21;
  (void)store.put(key_of(2), cubin_of(2), "op", "s");
  if (!right(store.find(key_of(2)), 2)) return 22;
  std::optional<Found> found;
  {
    const EntryLock lock = store.lock(key_of(3), milliseconds(20), found);
    if (!right(found, 3)) return 23;
    (void)store.put(key_of(3), cubin_of(3), "op", "s");
  }
  Key any = key_of(3);
  any.toolchain.clear();
  for (const Found& one : store.find_any_toolchain(any)) {
    if (one.cubin != cubin_of(3)) return 24;
  }
  store.remember_failure(key_of(4), "log");
  if (const auto known = store.failure(key_of(4)); known && known->log != "log") return 25;
  store.quarantine(key_of(2), "a test");
  (void)store.gc({.max_bytes = 1});
  (void)store.statistics(true);
  std::int64_t checked = 0;
  (void)store.verify(checked);
  (void)store.list();
  (void)store.explain(key_of(0));
  return 0;
}

// After a fault that is over, a cache works like any other.
int works(const fs::path& root) {
  Store store(options_at(root));
  for (int i = 0; i < 4; ++i) {
    if (!right(store.find(key_of(i)), i)) return 30;
    if (store.put(key_of(i), cubin_of(i), "op", "s") == PutResult::not_kept) return 31;
    const auto found = store.find(key_of(i));
    if (!found || found->cubin != cubin_of(i)) return 32;
  }
  std::int64_t checked = 0;
  return store.verify(checked).empty() && checked == 4 ? 0 : 33;
}

int attempt(const char* call, int nth, int error, bool after) {
  ::alarm(kHangSeconds);
  const TemporaryFolder folder;
  const fs::path root = folder / "deep/root";
  {
    Store store(options_at(root));
    (void)store.put(key_of(0), cubin_of(0), "op", "s");
    (void)store.put(key_of(1), cubin_of(1), "op", "s");
    write_file(entry_file(root, key_of(1)), "damaged");
    // Long unused, so that a find stamps it and eviction takes it.
    fs::last_write_time(entry_file(root, key_of(0)),
                        fs::file_time_type::clock::now() - std::chrono::hours(5));
  }
  kiln_fault_arm(call, nth, error, after ? 1 : 0);
  const int wrong = use(root);
  const bool fired = kiln_fault_fired() != 0;
  if (wrong != 0) return wrong;
  if (const int broken = works(root); broken != 0) return broken;
  return fired ? 0 : kNotFired;
}

struct Totals {
  int attempts = 0;
  int failures = 0;
};

// Each call of this name that `use` makes, one after another, in a child.
void attempt_each(const Call& call, int error, bool after, int stride, Totals& totals) {
  for (int nth = 1; nth < 2000; nth += stride) {
    const int code = in_child([&] { return attempt(call.name, nth, error, after); });
    if (code == kNotFired) return;
    ++totals.attempts;
    if (code == 0) continue;
    ++totals.failures;
    std::printf("call %d of %s with %s%s: %s %d\n",
                nth,
                call.name,
                error != 0 ? ::strerrorname_np(error) : "a short count",
                after ? " once done" : "",
                code > 1000 ? "signal" : "code",
                code > 1000 ? code - 1000 : code);
  }
}

int run(bool whole) {
  Totals totals;
  const std::size_t most = whole ? 8 : 2;
  for (const Call& call : kCalls) {
    // Some calls come by the hundred: in CI every few of them.
    const int stride = whole ? 1 : 11;
    for (const int error : std::span(call.errors).first(most)) {
      if (error == 0) break;
      attempt_each(call, error, false, stride, totals);
      if (whole) attempt_each(call, error, true, stride, totals);
    }
    if (call.transfers) attempt_each(call, 0, false, stride, totals);
  }
  std::printf("%d faults, %d failures\n", totals.attempts, totals.failures);
  return totals.failures == 0 && totals.attempts > 100 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::cache

int main() {
  if (kiln_fault_arm == nullptr) {
    std::puts("the shim is not preloaded");
    return 2;
  }
  const char* soak = std::getenv("KILN_SOAK");
  return kiln::cache::run(soak != nullptr && *soak == '1');
}
