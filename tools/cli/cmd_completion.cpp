// `fourtune completion SHELL`: the script is generated from the declared subcommands and options, so it is always up to
// date.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "tools/cli/commands.h"

namespace fourtune::tools {
namespace {

struct Word {
  std::string name;         // "--format"
  std::string description;  // one line
  std::vector<std::string> values;
  bool takes_value = false;
  bool takes_path = false;
};
struct Command {
  std::string name;
  std::string description;
  std::vector<Word> options;
  std::vector<std::string> arguments;  // the possible values of a positional argument
};

// Parses "{a,b,c}" in an option's type name, where CLI::IsMember puts it.
std::vector<std::string> listed_values(const std::string& type) {
  const auto open = type.find('{');
  const auto close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Command describe(const CLI::App& app) {
  Command command{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden options
    const std::string type = option->get_type_name();
    const auto values = listed_values(type);
    if (option->nonpositional() && !option->get_lnames().empty()) {
      const bool value = option->get_expected_min() > 0;
      const bool path =
          value && (type.find("FILE") != type.npos || type.find("PATH") != type.npos || type.find("DIR") != type.npos);
      command.options.push_back({"--" + option->get_lnames().front(), option->get_description(), values, value, path});
    } else if (option->get_positional()) {
      command.arguments = values;
    }
  }
  return command;
}

std::vector<Command> describe_all(const CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) commands.push_back(describe(*sub));
  return commands;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string option_names(const Command& command) {
  std::vector<std::string> names;
  names.reserve(command.options.size());
  for (const Word& option : command.options) names.push_back(option.name);
  return joined(names);
}

std::string bash_script(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& command : commands) names.push_back(command.name);
  std::string text =
      "# bash completion of fourtune: eval \"$(fourtune completion bash)\"\n"
      "_fourtune() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$cur\"))\n    return\n  fi\n",
                      joined(names));
  text += "  case \"${COMP_WORDS[1]} $prev\" in\n";
  for (const Command& command : commands)
    for (const Word& option : command.options) {
      if (!option.takes_value) continue;
      if (!option.values.empty())
        text += fmt::format("    '{} {}') COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", command.name,
                            option.name, joined(option.values));
      else if (option.takes_path)
        text +=
            fmt::format("    '{} {}') COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", command.name, option.name);
      else
        text += fmt::format("    '{} {}') return ;;\n", command.name, option.name);
    }
  text += "  esac\n  case \"${COMP_WORDS[1]}\" in\n";
  for (const Command& command : commands)
    text += fmt::format("    {}) COMPREPLY=($(compgen -W \"{} {}\" -- \"$cur\")) ;;\n", command.name,
                        option_names(command), joined(command.arguments));
  return text + "  esac\n}\ncomplete -o default -F _fourtune fourtune\n";
}

// Makes the text safe inside single quotes, without the characters that have a meaning in zsh's _arguments.
std::string quotable(std::string text) {
  std::erase_if(text, [](char letter) { return std::string("'[]:\\\"`$\n").find(letter) != std::string::npos; });
  return text;
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string text =
      "#compdef fourtune\n"
      "# zsh completion of fourtune: eval \"$(fourtune completion zsh)\"\n"
      "_fourtune() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const Command& command : commands)
    text += fmt::format("      '{}:{}'\n", command.name, quotable(command.description));
  text +=
      "    )\n    _describe 'subcommand' commands\n    return\n  fi\n  local sub=${words[2]}\n"
      "  shift words; (( CURRENT-- ))\n  case $sub in\n";
  for (const Command& command : commands) {
    text += fmt::format("    {}) _arguments", command.name);
    for (const Word& option : command.options) {
      text += fmt::format(" \\\n      '{}[{}]", option.name, quotable(option.description));
      if (option.takes_value)
        text += !option.values.empty() ? fmt::format(":value:({})", joined(option.values))
                                       : (option.takes_path ? ":path:_files" : ":value: ");
      text += "'";
    }
    text += command.arguments.empty() ? " \\\n      '*:argument:_files'"
                                      : fmt::format(" \\\n      '*:argument:({})'", joined(command.arguments));
    text += " ;;\n";
  }
  return text + "  esac\n}\ncompdef _fourtune fourtune\n";
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string text = "# fish completion of fourtune: fourtune completion fish | source\n";
  for (const Command& command : commands)
    text += fmt::format("complete -c fourtune -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name,
                        quotable(command.description));
  for (const Command& command : commands) {
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", command.name);
    for (const Word& option : command.options) {
      text += fmt::format("complete -c fourtune -n {} -l {} -d '{}'", seen, option.name.substr(2),
                          quotable(option.description));
      if (option.takes_value) text += option.takes_path ? " -rF" : " -x";
      if (!option.values.empty()) text += fmt::format(" -a '{}'", joined(option.values));
      text += '\n';
    }
    if (!command.arguments.empty())
      text += fmt::format("complete -c fourtune -n {} -f -a '{}'\n", seen, joined(command.arguments));
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* completion = app.add_subcommand("completion", "Print a shell completion script");
  auto* shell = completion->add_option("shell", "Shell to complete in")->required();
  shell->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer(
      "Example:\n"
      "  eval \"$(fourtune completion bash)\"     # put it in ~/.bashrc to keep it\n"
      "  fourtune completion fish | source");
  completion->callback([&app, shell] {
    const auto name = shell->as<std::string>();
    const auto commands = describe_all(app);
    fmt::print("{}", name == "bash"  ? bash_script(commands)
                     : name == "zsh" ? zsh_script(commands)
                                     : fish_script(commands));
  });
}

}  // namespace fourtune::tools
