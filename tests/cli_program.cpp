// Running the program under test.
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli_program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kiln::testing {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// In the child, between fork and exec.
[[noreturn]] void become(const std::string& program,
                         const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& environment,
                         const std::string& folder,
                         bool as_nobody) {
  const int in = open("/dev/null", O_RDONLY);
  const int out = open((folder + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int err = open((folder + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const auto& [name, value] : environment) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  if (as_nobody &&
      (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0))
    _exit(99);
  std::vector<char*> pointers{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  _exit(98);
}

pid_t launch(const std::string& program,
             const std::vector<std::string>& arguments,
             std::map<std::string, std::string> environment,
             const std::string& folder,
             bool as_nobody) {
  environment.try_emplace("KILN_CACHE_DIR", folder + "/cache");
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) become(program, arguments, environment, folder, as_nobody);
  return pid;
}

// NVIDIA's wheel may lie in a home folder that nobody else may enter: a copy of its NVRTC in
// `folder`.
std::string copy_of_nvrtc(const fs::path& library, const std::string& folder) {
  const fs::path copy = fs::path(folder) / "nvrtc";
  fs::create_directory(copy);
  for (const fs::directory_entry& entry : fs::directory_iterator(library.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libnvrtc") && !fs::exists(copy / name)) fs::copy_file(entry, copy / name);
  }
  return (copy / library.filename()).string();
}

}  // namespace

Program::Program() {
  std::string path = (fs::temp_directory_path() / "kiln-cli-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
  folder_ = path;
}

Program::~Program() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Ran Program::run(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment) const {
  return finish(launch(KILN_PROGRAM, arguments, environment, folder_, false));
}

Ran Program::run_as_nobody(const std::vector<std::string>& arguments,
                           const std::map<std::string, std::string>& environment) const {
  const std::string copy = folder_ + "/kiln";
  fs::copy_file(KILN_PROGRAM, copy, fs::copy_options::overwrite_existing);
  chmod(folder_.c_str(), 0755);
  chmod(copy.c_str(), 0755);
  std::map<std::string, std::string> variables = environment;
  if (const char* nvrtc = std::getenv("KILN_NVRTC")) {
    variables.try_emplace("KILN_NVRTC", copy_of_nvrtc(nvrtc, folder_));
  }
  return finish(launch(copy, arguments, variables, folder_, true));
}

pid_t Program::start(const std::vector<std::string>& arguments) const {
  return launch(KILN_PROGRAM, arguments, {}, folder_, false);
}

Ran Program::finish(pid_t pid) const {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  Ran ran;
  ran.code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  ran.out = read_all(folder_ + "/out");
  ran.err = read_all(folder_ + "/err");
  return ran;
}

std::string Program::write(const std::string& name, const std::string& text) const {
  const std::string path = folder_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<std::string> Program::entries() const {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(cache(), error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".k" && it->path().string().find("/e/") != std::string::npos) {
      found.push_back(it->path().string());
    }
  }
  return found;
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string name = std::to_string(pid);
  std::ifstream file("/proc/" + name + "/task/" + name + "/children");
  return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
}

}  // namespace kiln::testing
