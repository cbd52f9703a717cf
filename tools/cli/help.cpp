#include "tools/cli/help.h"

#include <algorithm>
#include <sstream>

#include "tuner/report/screen.h"

namespace fourtune::tools {
namespace {

constexpr std::size_t kUsual = 80, kWidest = 100, kNames = 28;

}  // namespace

HelpFormatter::HelpFormatter() {
  const std::size_t width = tuner::screen_of(stdout).width;
  width_ = width == 0 ? kUsual : std::min(width, kWidest);
}

// The name, and the description beside it or, where the name is long, under it.
std::string HelpFormatter::entry(const std::string& name, const std::string& description) const {
  std::string text = "  " + name;
  if (description.empty()) return text + '\n';
  if (text.size() + 2 > kNames)
    text += '\n' + std::string(kNames, ' ');
  else
    text += std::string(kNames - text.size(), ' ');
  return text + tuner::wrapped(description, kNames, {width_, false}, kNames) + '\n';
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string form = make_option_opts(option);
  form.resize(std::min(form.find(" Excludes:"), form.size()));  // a refusal says it where it matters
  if (const auto list = form.find(" TEXT:{"); list != form.npos) form.erase(list + 1, 5);  // the words say enough
  return entry(make_option_name(option, is_positional) + form, make_option_desc(option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* command) const {
  return filled(CLI::Formatter::make_description(command));
}

std::string HelpFormatter::make_footer(const CLI::App* command) const {
  return command->get_footer().empty() ? std::string() : filled(command->get_footer());
}

std::string HelpFormatter::filled(const std::string& text) const {
  std::string out, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += tuner::wrapped(paragraph, 0, {width_, false}) + '\n';
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == ' ') {
      end_paragraph();
      out += line + '\n';
      continue;
    }
    paragraph += (paragraph.empty() ? "" : " ") + line;
    if (line.back() == ':') end_paragraph();
  }
  end_paragraph();
  return out;
}

}  // namespace fourtune::tools
