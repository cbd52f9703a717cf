#include "tests/support/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace fourtune::test {
namespace {

// Makes only calls that are safe between fork and exec.
[[noreturn]] void become(const std::vector<char*>& words, const std::vector<char*>& variables, const char* folder,
                         int out, int err) {
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (*folder != 0 && chdir(folder) != 0) _exit(126);
  execvpe(words[0], words.data(), variables.data());
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced = replaced || text.rfind(name + "=", 0) == 0;
    if (!replaced) all.push_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

}  // namespace

std::string fourtune_program() {
  const char* other = getenv("FOURTUNE_PROGRAM");
  return other != nullptr ? other : FOURTUNE_PROGRAM;
}

Finished run_program(const std::vector<std::string>& words, const std::filesystem::path& folder,
                     const std::vector<std::pair<std::string, std::string>>& environment) {
  const ScratchFolder scratch;  // files, not pipes, so that the program can write any amount without a reader
  const auto out_path = scratch / "out", err_path = scratch / "err";
  const int out = open(out_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int err = open(err_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0 || err < 0) throw std::system_error(errno, std::generic_category(), "scratch files");
  std::vector<std::string> arguments = words, variables = environment_with(environment);
  const auto argument_list = pointers(arguments), variable_list = pointers(variables);
  const std::string where = folder.string();
  const pid_t child = fork();
  if (child == 0) become(argument_list, variable_list, where.c_str(), out, err);
  close(out);
  close(err);
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Finished finished;
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = read_text(out_path);
  finished.err = read_text(err_path);
  if (finished.code == 127 && finished.out.empty() && finished.err.empty())
    throw std::runtime_error(words.front() + " cannot be started");
  return finished;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "fourtune-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool has_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return true;
  return false;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path.string() + " cannot be written");
}

}  // namespace fourtune::test
