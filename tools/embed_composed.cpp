// A build tool: compiles a family's composed.cu for every architecture and writes the images as a
// C++ file.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>
#include <kiln/policy.hpp>

#include "src/core/closure.hpp"
#include "src/cuda/toolchain.hpp"
#include "tools/composed_compile.hpp"
#include "tools/composed_source.hpp"
#include "tools/whole_files.hpp"

namespace fs = std::filesystem;

namespace kiln::composed {
namespace {

constexpr std::string_view kUsage =
    "usage: kiln_embed_composed --family <name> --source <file.cu> --root <folder> --output "
    "<file.cpp>\n"
    "                           [--nvrtc <libnvrtc.so or its folder>] [--nvrtc-folder <folder>] "
    "[--jobs <n>]\n"
    "Compiles the source, whose includes are paths from --root, for sm_80 86 89 90 100 103 120 and "
    "to PTX.\n";

struct UsageError {
  std::string text;
};

struct Arguments {
  std::string family;
  std::string source;
  std::string root;
  std::string output;
  std::string nvrtc;
  std::vector<std::string> nvrtc_folders;
  std::size_t jobs = 2;
};

Arguments parse(std::span<char*> words) {
  Arguments arguments;
  std::string jobs;
  const std::map<std::string_view, std::string*> texts{
      {"--family", &arguments.family},
      {"--source", &arguments.source},
      {"--root", &arguments.root},
      {"--output", &arguments.output},
      {"--nvrtc", &arguments.nvrtc},
      {"--jobs", &jobs},
  };
  for (std::size_t at = 1; at < words.size(); at += 2) {
    const std::string_view name = words[at];
    if (at + 1 >= words.size()) throw UsageError{fmt::format("{} lacks its value", name)};
    const auto found = texts.find(name);
    if (found != texts.end()) {
      *found->second = words[at + 1];
    } else if (name == "--nvrtc-folder") {
      arguments.nvrtc_folders.emplace_back(words[at + 1]);
    } else {
      throw UsageError{fmt::format("unknown option {}", name)};
    }
  }
  for (const char* name : {"--family", "--source", "--root", "--output"}) {
    if (texts.at(name)->empty()) throw UsageError{fmt::format("{} is missing", name)};
  }
  if (!jobs.empty()) {
    const auto [end, error] =
        std::from_chars(jobs.data(), jobs.data() + jobs.size(), arguments.jobs);
    if (error != std::errc{} || end != jobs.data() + jobs.size() || arguments.jobs < 1) {
      throw UsageError{fmt::format("--jobs {}: not a number of 1 or more", jobs)};
    }
  }
  return arguments;
}

// Device files by virtual path: templates/, every kernel folder, and the source's own (a family of
// another root).
std::map<std::string, std::string> device_files(const fs::path& root, const fs::path& own) {
  std::map<std::string, std::string> files;
  for (const fs::path& top : {fs::path("templates"), fs::path("kernels"), own}) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(root / top, error);
         !error && it != fs::recursive_directory_iterator();
         it.increment(error)) {
      const fs::path extension = it->path().extension();
      if (!it->is_regular_file() || (extension != ".cuh" && extension != ".hpp")) continue;
      const std::string name = it->path().lexically_relative(root).generic_string();
      if (name != "kernels/family.hpp") files[name] = read_file(it->path());
    }
  }
  return files;
}

ToolchainFiles toolchain(const Arguments& arguments) {
  Policy policy = Policy::from_env();
  if (!policy.nvrtc_overrides.empty()) {
    throw Error(ErrorCode::invalid_policy,
                fmt::format("{} is set and would change what NVRTC makes: unset it to build",
                            policy.nvrtc_overrides.front()));
  }
  if (!arguments.nvrtc.empty()) policy.nvrtc = fs::absolute(arguments.nvrtc).string();
  const ToolchainSearch search = find_toolchain(policy, arguments.nvrtc_folders, std::nullopt);
  if (!search.found) throw missing_toolchain(search);
  return *search.found;
}

// A folder beside the output, gone with its contents at the end of the scope.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& output) : path_(output + ".parts.XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) {
      throw Error(ErrorCode::io_error,
                  fmt::format("cannot make a folder {}: {}", path_, std::strerror(errno)));
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder(ScratchFolder&&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

bool starts_with(const fs::path& path, const std::string& text) {
  std::string start(text.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == text;
}

void embed(const Arguments& arguments) {
  const fs::path root = fs::absolute(arguments.root).lexically_normal();
  const std::map<std::string, std::string> texts =
      device_files(root, fs::path(arguments.source).parent_path());
  std::vector<EmbeddedFile> files;
  for (const auto& [name, text] : texts) files.push_back({name, text});
  // A relative --source is a path from --root, as the includes are.
  const Closure closure =
      close_includes({.text = read_file(root / arguments.source), .entry = ""}, files);

  const ToolchainFiles compiler = toolchain(arguments);
  // The first line of the output tells what it was made of: an edit to a device file that is not in
  // the closure costs no compile.
  const std::string stamp = fmt::format("// {}\n", images_digest(compiler, closure));
  if (starts_with(arguments.output, stamp)) {
    fs::last_write_time(arguments.output, fs::file_time_type::clock::now());
    return;
  }
  const fs::path folder = fs::path(arguments.output).parent_path();
  if (!folder.empty()) fs::create_directories(folder);
  const ScratchFolder scratch(arguments.output);
  const std::vector<Image> images =
      compile_images(compiler, closure, arguments.jobs, scratch.path());
  const std::string finished = scratch.path() + "/finished.cpp";
  write_file(finished, stamp + composed_source(arguments.family, images));
  fs::rename(finished, arguments.output);
}

}  // namespace
}  // namespace kiln::composed

int main(int argc, char** argv) {
  try {
    kiln::composed::embed(
        kiln::composed::parse(std::span<char*>(argv, static_cast<std::size_t>(argc))));
    return 0;
  } catch (const kiln::composed::UsageError& error) {
    fmt::print(stderr, "kiln_embed_composed: {}\n{}", error.text, kiln::composed::kUsage);
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kiln_embed_composed: {}\n", error.what());
    return 1;
  }
}
