// What the CUDA tests share.
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_fixtures.hpp"

#include <elf.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <kiln/policy.hpp>

#include "tests/testing.hpp"

namespace fs = std::filesystem;

namespace kiln::testing {

TempFolder::TempFolder() {
  std::string pattern = (fs::temp_directory_path() / "kiln-test-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = fs::canonical(pattern);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TempFolder::write(const std::string& name, std::string_view bytes) const {
  const fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  REQUIRE(file);
  return path.string();
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string elf_library(const std::string& build_id, std::string_view filler) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
#if defined(__x86_64__)
  header.e_machine = EM_X86_64;
#else
  header.e_machine = EM_AARCH64;
#endif
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = build_id.empty() ? 1 : 2;

  const Elf64_Nhdr note{4, static_cast<Elf64_Word>(build_id.size()), NT_GNU_BUILD_ID};
  std::string notes(reinterpret_cast<const char*>(&note), sizeof note);
  notes += std::string("GNU\0", 4) + build_id;
  notes.resize((notes.size() + 3) / 4 * 4);

  Elf64_Phdr whole{};
  whole.p_type = PT_LOAD;
  Elf64_Phdr noted{};
  noted.p_type = PT_NOTE;
  noted.p_offset = sizeof header + 2 * sizeof(Elf64_Phdr);
  noted.p_filesz = notes.size();
  noted.p_align = 4;
  whole.p_filesz = sizeof header + header.e_phnum * sizeof(Elf64_Phdr) + filler.size() +
                   (build_id.empty() ? 0 : notes.size());

  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&whole), sizeof whole);
  if (!build_id.empty()) {
    bytes.append(reinterpret_cast<const char*>(&noted), sizeof noted);
    bytes += notes;
  }
  bytes += filler;
  return bytes;
}

ToolchainFiles machine_toolchain() {
  const ToolchainSearch search = find_toolchain(Policy::from_env(), {}, std::nullopt);
  if (!search.found) FAIL(missing_toolchain(search).what());
  return *search.found;
}

const Nvrtc& machine_nvrtc() {
  static const Nvrtc nvrtc = Nvrtc::load(machine_toolchain());
  return nvrtc;
}

Closure closure_of(std::string text, std::string entry, std::vector<EmbeddedFile> headers) {
  return {{std::move(text), std::move(entry)}, std::move(headers)};
}

CompileResult compile_text(const std::string& text, const std::string& entry) {
  const Closure closure = closure_of(text, entry);
  const CompileOptions options = CompileOptions::standard();
  return compile(machine_nvrtc(),
                 {.closure = closure, .options = options, .arch = {9, 0, 'a'}, .seed = "5eed"});
}

ChildResult run_program(const std::vector<std::string>& words,
                        const std::vector<std::pair<std::string, std::string>>& variables) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  ChildResult result;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    result.output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

ChildResult run_hidden_test(const std::string& name,
                            const std::vector<std::pair<std::string, std::string>>& variables) {
  ChildResult result = run_program({fs::read_symlink("/proc/self/exe").string(), name}, variables);
  // Catch2 calls it a success when no test case has the name.
  CHECK_THAT(result.output, contains("in 1 test case"));
  return result;
}

}  // namespace kiln::testing
