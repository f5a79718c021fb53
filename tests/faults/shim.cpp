// Preloaded between the store and libc: lets one chosen call fail, come short, or fail after it was
// done. Off until armed.
// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/shim.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <ctime>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

const char* armed_call = nullptr;
int armed_error = 0;
bool armed_after = false;
std::atomic<int> countdown{0};
std::atomic<int> fired{0};

// Whether this call is the one: counts it.
bool is_chosen(const char* call) {
  if (armed_call == nullptr || std::strcmp(call, armed_call) != 0) return false;
  if (--countdown != 0) return false;
  fired = 1;
  return true;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Fails instead of the call, or after it was done, as a network file system does whose answer was
// lost.
template <class Result, class Call>
Result failing(const char* name, Result failure, Call&& call) {
  if (!is_chosen(name)) return call();
  if (armed_after) (void)call();
  errno = armed_error;
  return failure;
}

}  // namespace

#pragma GCC visibility push(default)  // what libc's functions are replaced by

extern "C" {

void kiln_fault_arm(const char* call, int nth, int error, int after) {
  armed_error = error;
  armed_after = after != 0;
  countdown = nth;
  fired = 0;
  armed_call = call;
}

int kiln_fault_fired() {
  armed_call = nullptr;
  return fired;
}

// An error of 0 makes reads and writes come short, by all but one byte.
#define KILN_TRANSFER(name, Bytes)                                                 \
  ssize_t name(int fd, Bytes bytes, size_t size) {                                 \
    static auto* const next = real<ssize_t(int, Bytes, size_t)>(#name);            \
    if (armed_call != nullptr && armed_error == 0 && size > 1 && is_chosen(#name)) \
      return next(fd, bytes, 1);                                                   \
    return failing<ssize_t>(#name, -1, [&] { return next(fd, bytes, size); });     \
  }
KILN_TRANSFER(read, void*)
KILN_TRANSFER(write, const void*)

ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  static auto* const next = real<ssize_t(int, void*, size_t, off_t)>("pread");
  if (armed_call != nullptr && armed_error == 0 && size > 1 && is_chosen("pread"))
    return next(fd, bytes, 1, offset);
  return failing<ssize_t>("pread", -1, [&] { return next(fd, bytes, size, offset); });
}

int openat(int folder, const char* name, int flags, ...) {
  static auto* const next = real<int(int, const char*, int, ...)>("openat");
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  if (!is_chosen("openat")) return next(folder, name, flags, mode);
  if (armed_after) {
    const int fd = next(folder, name, flags, mode);
    if (fd >= 0) ::close(fd);
  }
  errno = armed_error;
  return -1;
}

int fcntl(int fd, int command, ...) {
  static auto* const next = real<int(int, int, ...)>("fcntl");
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return failing("fcntl", -1, [&] { return next(fd, command, argument); });
}

#define KILN_CALL(name, parameters, arguments)                 \
  int name parameters {                                        \
    static auto* const next = real<int parameters>(#name);     \
    return failing(#name, -1, [&] { return next arguments; }); \
  }
KILN_CALL(close, (int fd), (fd))
KILN_CALL(fsync, (int fd), (fd))
KILN_CALL(fstat, (int fd, struct stat* status), (fd, status))
KILN_CALL(fstatat,
          (int folder, const char* name, struct stat* status, int flags),
          (folder, name, status, flags))
KILN_CALL(stat, (const char* name, struct stat* status), (name, status))
KILN_CALL(mkdir, (const char* name, mode_t mode), (name, mode))
KILN_CALL(mkdirat, (int folder, const char* name, mode_t mode), (folder, name, mode))
KILN_CALL(chmod, (const char* name, mode_t mode), (name, mode))
KILN_CALL(fchmod, (int fd, mode_t mode), (fd, mode))
KILN_CALL(fchmodat,
          (int folder, const char* name, mode_t mode, int flags),
          (folder, name, mode, flags))
KILN_CALL(renameat, (int a, const char* from, int b, const char* to), (a, from, b, to))
KILN_CALL(renameat2,
          (int a, const char* from, int b, const char* to, unsigned flags),
          (a, from, b, to, flags))
KILN_CALL(unlinkat, (int folder, const char* name, int flags), (folder, name, flags))
KILN_CALL(futimens, (int fd, const struct timespec times[2]), (fd, times))
KILN_CALL(utimensat,
          (int folder, const char* name, const struct timespec times[2], int flags),
          (folder, name, times, flags))
KILN_CALL(faccessat,
          (int folder, const char* name, int mode, int flags),
          (folder, name, mode, flags))

DIR* fdopendir(int fd) {
  static auto* const next = real<DIR*(int)>("fdopendir");
  return failing<DIR*>("fdopendir", nullptr, [&] { return next(fd); });
}

struct dirent* readdir(DIR* stream) {
  static auto* const next = real<struct dirent*(DIR*)>("readdir");
  return failing<struct dirent*>("readdir", nullptr, [&] { return next(stream); });
}

char* realpath(const char* path, char* resolved) {
  static auto* const next = real<char*(const char*, char*)>("realpath");
  if (!is_chosen("realpath")) return next(path, resolved);
  errno = armed_error;
  return nullptr;
}

ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  static auto* const next = real<ssize_t(void*, size_t, unsigned)>("getrandom");
  return failing<ssize_t>("getrandom", -1, [&] { return next(bytes, size, flags); });
}

}  // extern "C"

#pragma GCC visibility pop
