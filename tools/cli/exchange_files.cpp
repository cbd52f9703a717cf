#include "tools/cli/exchange_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/text.h"
#include "tools/common/errors.h"
#include "tuner/report/t1.h"

namespace fourtune::tools {

std::string text_of_file(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error))
    throw UsageError(fmt::format("{}: cannot be read", text::shown(path, 4096)), "`fourtune export` writes such files");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<Problem> problem_of_t1_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const std::string text = text_of_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '{') return std::nullopt;
  try {
    return tuner::problem_of_t1(text);
  } catch (const Error& error_of_text) {
    throw UsageError(fmt::format("{}: {}", text::shown(path, 4096), error_of_text.what()));
  }
}

}  // namespace fourtune::tools
