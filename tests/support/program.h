// Runs programs and keeps scratch folders for tests.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace fourtune::test {

struct Finished {
  int code = -1;  // exit code; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

// Runs words[0] with the rest as arguments, in `folder` (empty: here), with the variables added to the environment.
// Throws std::runtime_error when it cannot be started.
Finished run_program(const std::vector<std::string>& words, const std::filesystem::path& folder = {},
                     const std::vector<std::pair<std::string, std::string>>& environment = {});

// A new empty folder, removed with everything in it at the end.
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
