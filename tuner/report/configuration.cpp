#include "tuner/report/configuration.h"

#include <algorithm>
#include <vector>

namespace fourtune::tuner {
namespace {

constexpr std::string_view kOpening = "([{", kClosing = ")]}";

// The parts between separators that lie outside of brackets.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      if (kOpening.find(text[i]) != kOpening.npos) ++depth;
      if (kClosing.find(text[i]) != kClosing.npos) depth = std::max(0, depth - 1);
      if (depth > 0 || separators.find(text[i]) == separators.npos) continue;
    }
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

using Configuration = std::map<std::string, std::string>;

void add(Configuration& all, const std::string& name, std::string_view value);

// The parts of a list, named as they are or by their places.
void add_list(Configuration& all, const std::string& name, std::string_view list) {
  const auto inside = parts_of(list, ",;");
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const std::size_t equals = inside[i].find('=');
    const bool named = equals != inside[i].npos && equals < inside[i].find('(');
    const std::string word = named ? std::string(inside[i].substr(0, equals)) : std::to_string(i);
    add(all, name + "_" + word, named ? inside[i].substr(equals + 1) : inside[i]);
  }
}

// Kernels {passes}[attributes], one after the other, and what follows a colon.
void add_kernels(Configuration& all, const std::string& name, std::string_view text) {
  for (std::size_t kernel = 0; text.starts_with('{'); ++kernel) {
    const std::string its_name = name + "_" + std::to_string(kernel);
    const std::size_t end = std::min(text.find('}'), text.size());
    all[its_name] = text.substr(1, end - 1);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!text.starts_with('[')) continue;
    const std::size_t close = std::min(text.find(']'), text.size());
    add_list(all, its_name, text.substr(1, close - 1));
    text.remove_prefix(std::min(close + 1, text.size()));
  }
  if (text.starts_with(':')) add_list(all, name, text.substr(1));
}

void add(Configuration& all, const std::string& name, std::string_view value) {
  const std::size_t open = value.find('('), kernels = value.find('{');
  if (kernels < open) {
    all[name] = value.substr(0, kernels);
    add_kernels(all, name, value.substr(kernels));
  } else if (open != value.npos && value.back() == ')') {
    all[name] = value.substr(0, open);
    add_list(all, name, value.substr(open + 1, value.size() - open - 2));
  } else {
    all[name] = value;
  }
}

}  // namespace

std::map<std::string, std::string> configuration_of(std::string_view plan) {
  Configuration all;
  const auto whole = parts_of(plan, ";");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::size_t equals = whole[i].find('=');
    const bool named = equals != whole[i].npos && equals < whole[i].find('(');
    if (named)
      add(all, std::string(whole[i].substr(0, equals)), whole[i].substr(equals + 1));
    else
      add(all, i == 0 ? "plan" : "plan_" + std::to_string(i), whole[i]);
  }
  return all;
}

}  // namespace fourtune::tuner
