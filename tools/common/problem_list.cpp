#include "tools/common/problem_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

#include "tools/common/errors.h"

namespace fourtune::tools {
namespace {

constexpr std::string_view kBuiltin = "builtin:";
constexpr std::string_view kBlanks = " \t\r\n";

std::string trimmed(std::string text) {
  text.erase(std::min(text.find('#'), text.size()));
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::filesystem::path builtin_path(const std::string& name) {
  const std::string list = name.substr(kBuiltin.size());
  const std::filesystem::path folder = builtin_folder();
  if (folder.empty())
    throw UsageError("the built-in problem lists are not next to this program",
                     "set FOURTUNE_CASES to the folder that holds quick.txt, or give a file: --problems FILE");
  const bool plain = !list.empty() && list.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == list.npos;
  std::filesystem::path path = folder / (list + ".txt");
  if (!plain || !std::filesystem::exists(path))
    throw UsageError(fmt::format("there is no built-in problem list '{}'", list),
                     "builtin:quick, builtin:papers or builtin:applications");
  return path;
}

}  // namespace

std::filesystem::path builtin_folder() {
  std::vector<std::filesystem::path> places;
  if (const char* folder = std::getenv("FOURTUNE_CASES"); folder != nullptr && *folder != 0)
    places.emplace_back(folder);
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) places.push_back(self.parent_path().parent_path() / "share/fourtune/cases");
  places.emplace_back(FOURTUNE_SOURCE_CASES);
  for (const auto& place : places)
    if (std::filesystem::is_regular_file(place / "quick.txt", error)) return place;
  return {};
}

Problem problem_from_argument(const std::string& token) {
  try {
    return parse_typed_problem(token);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

std::vector<Problem> problems_from_file(const std::string& name) {
  const std::filesystem::path path = name.starts_with(kBuiltin) ? builtin_path(name) : std::filesystem::path(name);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw UsageError(fmt::format("{}: no such file", path.string()));
  if (std::filesystem::is_directory(path, error))
    throw UsageError(fmt::format("{}: is a folder", path.string()), "give a text file with one problem per line");
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("{}: cannot be read", path.string()));
  std::vector<Problem> problems;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string token = trimmed(line);
    if (token.empty()) continue;
    try {
      Problem problem = parse_typed_problem(token);
      if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
    } catch (const Error& bad) {
      throw UsageError(fmt::format("{}:{}: {}", name, number, bad.what()));
    }
  }
  if (file.bad()) throw UsageError(fmt::format("{}: cannot be read", path.string()));
  if (problems.empty()) throw UsageError(fmt::format("{}: holds no problem", path.string()));
  return problems;
}

}  // namespace fourtune::tools
