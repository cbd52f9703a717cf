// Runs programs and manages scratch folders for tests.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace fourtune::test {

struct Finished {
  int code = -1;  // exit code, or 128 + the number of the signal that ended it
  std::string out;
  std::string err;
};

// Runs words[0] with the rest as arguments, in `folder` (empty: the current one), with the variables added to the
// environment. Throws std::runtime_error when the program cannot be started.
Finished run_program(const std::vector<std::string>& words, const std::filesystem::path& folder = {},
                     const std::vector<std::pair<std::string, std::string>>& environment = {});

// Where the program `fourtune` under test is: $FOURTUNE_PROGRAM if set (tools/mutate tries changed ones), else the
// build's.
std::string fourtune_program();

// Whether the PATH has a program of this name, such as "gnuplot"; tests that need it skip themselves otherwise.
bool has_program(const std::string& name);

// A new empty folder, which is removed with all its contents at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace fourtune::test
