// `fourtune completion SHELL`: the script is generated from the declared subcommands and options, so it is always up to
// date.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/token_keys.h"
#include "tools/cli/commands.h"
#include "tools/common/problem_list.h"

namespace fourtune::tools {
namespace {

struct Word {
  std::string name;         // "--format"
  std::string description;  // one line
  std::vector<std::string> values;
  bool takes_value = false;
  bool takes_path = false;
  bool takes_problems = false;  // a file of problems, or a builtin list
};
struct Command {
  std::string name;
  std::string description;
  std::vector<Word> options;
  std::vector<std::string> arguments;  // the possible values of a positional argument
  bool takes_token = false;            // a positional argument is a problem
  std::vector<Command> commands;       // of a group, as `fourtune pack`
};

// Parses "{a,b,c}" in an option's type name, where CLI::IsMember puts it.
std::vector<std::string> listed_values(const std::string& type) {
  const auto open = type.find('{');
  const auto close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Command describe(const CLI::App& app) {
  Command command{app.get_name(), app.get_description(), {}, {}, false, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden options
    const std::string type = option->get_type_name();
    const auto values = listed_values(type);
    if (option->nonpositional() && !option->get_lnames().empty()) {
      const bool value = option->get_expected_min() > 0;
      const bool path =
          value && (type.find("FILE") != type.npos || type.find("PATH") != type.npos || type.find("DIR") != type.npos);
      const std::string name = "--" + option->get_lnames().front();
      command.options.push_back({name, option->get_description(), values, value, path, name == "--problems"});
    } else if (option->get_positional()) {
      command.arguments = values;
      command.takes_token = type.find("TOKEN") != type.npos;
    }
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) command.commands.push_back(describe(*sub));
  return command;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// "builtin:quick builtin:papers": the lists that come with this program.
std::string builtin_lists() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(builtin_folder(), error))
    if (entry.path().extension() == ".txt") names.push_back("builtin:" + entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return joined(names);
}

// "type= n= prec=".
std::string keys_text(Kind kind) {
  std::vector<std::string> keys = token_keys(kind);
  for (std::string& key : keys) key += '=';
  return joined(keys);
}

// The values of keys that have few.
struct KeyValues {
  const char* key;
  const char* values;
};
constexpr KeyValues kFftValues[]{{"type", "c2c r2c c2r"}, {"prec", "f32 f64"}, {"place", "in out"}, {"sign", "-1 1"}};
constexpr KeyValues kNufftValues[]{
    {"type", "1 2 3"}, {"prec", "f32 f64"}, {"sign", "-1 1"}, {"points", "uniform cluster radial spiral stack ewald"}};

std::string option_names(const Command& command) {
  std::vector<std::string> names;
  names.reserve(command.options.size());
  for (const Word& option : command.options) names.push_back(option.name);
  return joined(names);
}

std::string names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& command : commands) names.push_back(command.name);
  return joined(names);
}

// The values of the options, after "COMMAND --OPTION".
std::string bash_values(const Command& command, const std::string& name) {
  std::string text;
  for (const Word& option : command.options) {
    if (!option.takes_value) continue;
    if (!option.values.empty())
      text += fmt::format("    '{} {}') COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", name, option.name,
                          joined(option.values));
    else if (option.takes_problems)
      text += fmt::format("    '{} {}') COMPREPLY=($(compgen -f -W \"{}\" -- \"$cur\")); _fourtune_trim; return ;;\n",
                          name, option.name, builtin_lists());
    else if (option.takes_path)
      text += fmt::format("    '{} {}') COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", name, option.name);
    else
      text += fmt::format("    '{} {}') return ;;\n", name, option.name);
  }
  return text;
}

// A subcommand of a group is named by both words: "pack show".
std::vector<std::pair<std::string, Command>> named(const std::vector<Command>& commands) {
  std::vector<std::pair<std::string, Command>> all;
  for (const Command& command : commands) {
    all.emplace_back(command.name, command);
    for (const Command& sub : command.commands) all.emplace_back(command.name + " " + sub.name, sub);
  }
  return all;
}

// Bash splits words at : and =, and replaces what follows the last of them only.
constexpr const char* kBashHelpers = R"bash(_fourtune_trim() {
  local head=${cur%"${cur##*[:=]}"}
  COMPREPLY=("${COMPREPLY[@]#"$head"}")
}
# Keys of a token that it does not have yet, or the values of its last key.
_fourtune_keys() {
  local kind=${cur%%:*} head last=${cur##*[,:]} key
  head=${cur%"$last"}
  if [[ $last == *=* ]]; then
    key=${last%%=*}
    COMPREPLY=($(compgen -P "$head$key=" -W "$(_fourtune_values "$kind $key")" -- "${last#*=}"))
  else
    for key in $(_fourtune_values "$kind"); do
      if [[ $key == "$last"* && ,${head#*:} != *,"$key"* ]]; then COMPREPLY+=("$head$key"); fi
    done
    compopt -o nospace 2> /dev/null
  fi
  _fourtune_trim
}
)bash";

std::string bash_key_values() {
  std::string text = "_fourtune_values() {\n  case \"$1\" in\n";
  for (const auto& [kind, name] : {std::pair(Kind::fft, "fft"), {Kind::nufft, "nufft"}})
    text += fmt::format("    {}) echo {} ;;\n", name, keys_text(kind));
  for (const KeyValues& one : kFftValues) text += fmt::format("    'fft {}') echo {} ;;\n", one.key, one.values);
  for (const KeyValues& one : kNufftValues) text += fmt::format("    'nufft {}') echo {} ;;\n", one.key, one.values);
  return text + "  esac\n}\n";
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string text = "# bash completion of fourtune: eval \"$(fourtune completion bash)\"\n";
  text += kBashHelpers + bash_key_values();
  text +=
      "_fourtune() {\n"
      "  local line=${COMP_LINE:0:COMP_POINT}\n"
      "  local -a words\n"
      "  read -ra words <<< \"$line\"\n"
      "  if [[ -z $line || $line == *[[:blank:]] ]]; then words+=(\"\"); fi\n"
      "  local count=$(( ${#words[@]} - 1 ))\n"
      "  local cur=${words[count]} prev=${words[count-1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$count\" -eq 1 ]; then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$cur\"))\n    return\n  fi\n",
                      names_of(commands));
  text += "  local sub=${words[1]}\n";
  for (const Command& group : commands)
    if (!group.commands.empty())
      text += fmt::format(
          "  if [ \"$sub\" = {0} ]; then\n"
          "    if [ \"$count\" -eq 2 ]; then\n"
          "      COMPREPLY=($(compgen -W \"{1} --help\" -- \"$cur\"))\n      return\n    fi\n"
          "    sub=\"{0} ${{words[2]}}\"\n  fi\n",
          group.name, names_of(group.commands));
  text += "  case \"$sub $prev\" in\n";
  for (const auto& [name, command] : named(commands)) text += bash_values(command, name);
  text += "  esac\n";
  std::vector<std::string> with_tokens;
  for (const auto& [name, command] : named(commands))
    if (command.takes_token) with_tokens.push_back(name);
  text += fmt::format(
      "  if [[ $cur == fft:* || $cur == nufft:* ]]; then\n"
      "    case \"$sub\" in {}) _fourtune_keys; return ;; esac\n  fi\n",
      fmt::join(with_tokens, "|"));
  text += "  case \"$sub\" in\n";
  for (const auto& [name, command] : named(commands))
    text += fmt::format("    '{}') COMPREPLY=($(compgen -W \"{} {}\" -- \"$cur\")) ;;\n", name, option_names(command),
                        joined(command.arguments));
  return text + "  esac\n}\ncomplete -o default -F _fourtune fourtune\n";
}

// Makes the text safe inside single quotes, without the characters that have a meaning in zsh's _arguments.
std::string quotable(std::string text) {
  std::erase_if(text, [](char letter) { return std::string("'[]:\\\"`$\n").find(letter) != std::string::npos; });
  return text;
}

// The branch of one subcommand; those of a group are chosen by the next word.
std::string zsh_branch(const Command& command, const std::string& indent) {
  std::string text = fmt::format("{}{})", indent, command.name);
  if (!command.commands.empty()) {
    text += fmt::format("\n{0}  if (( CURRENT == 2 )); then\n{0}    local -a subcommands=(\n", indent);
    for (const Command& sub : command.commands)
      text += fmt::format("{}      '{}:{}'\n", indent, sub.name, quotable(sub.description));
    text += fmt::format("{0}    )\n{0}    _describe 'subcommand' subcommands\n{0}    return\n{0}  fi\n", indent);
    text += fmt::format("{0}  sub=${{words[2]}}; shift words; (( CURRENT-- ))\n{0}  case $sub in\n", indent);
    for (const Command& sub : command.commands) text += zsh_branch(sub, indent + "    ");
    return text + fmt::format("{0}  esac ;;\n", indent);
  }
  text += " _arguments";
  for (const Word& option : command.options) {
    text += fmt::format(" \\\n{}  '{}[{}]", indent, option.name, quotable(option.description));
    if (option.takes_value)
      text += !option.values.empty() ? fmt::format(":value:({})", joined(option.values))
                                     : (option.takes_problems ? ":problems:_fourtune_problems"
                                        : option.takes_path   ? ":path:_files"
                                                              : ":value: ");
    text += "'";
  }
  text += command.takes_token         ? fmt::format(" \\\n{}  '*:problem:_fourtune_token'", indent)
          : command.arguments.empty() ? fmt::format(" \\\n{}  '*:argument:_files'", indent)
                                      : fmt::format(" \\\n{}  '*:argument:({})'", indent, joined(command.arguments));
  return text + " ;;\n";
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string text =
      "#compdef fourtune\n"
      "# zsh completion of fourtune: eval \"$(fourtune completion zsh)\"\n";
  text += fmt::format("_fourtune_problems() {{ compadd -- {}; _files }}\n", builtin_lists());
  text += fmt::format(
      "_fourtune_token() {{\n"
      "  case $PREFIX in\n"
      "    fft:*) compset -P '*[,:]'; compadd -S '' -- {} ;;\n"
      "    nufft:*) compset -P '*[,:]'; compadd -S '' -- {} ;;\n"
      "    *) compadd -S '' -- fft: nufft: ;;\n  esac\n}}\n",
      keys_text(Kind::fft), keys_text(Kind::nufft));
  text += "_fourtune() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const Command& command : commands)
    text += fmt::format("      '{}:{}'\n", command.name, quotable(command.description));
  text +=
      "    )\n    _describe 'subcommand' commands\n    return\n  fi\n  local sub=${words[2]}\n"
      "  shift words; (( CURRENT-- ))\n  case $sub in\n";
  for (const Command& command : commands) text += zsh_branch(command, "    ");
  return text + "  esac\n}\ncompdef _fourtune fourtune\n";
}

// The options and arguments of a subcommand, under the condition that it is the one that was typed.
std::string fish_words(const Command& command, const std::string& condition) {
  std::string text;
  for (const Word& option : command.options) {
    text += fmt::format("complete -c fourtune -n '{}' -l {} -d '{}'", condition, option.name.substr(2),
                        quotable(option.description));
    if (option.takes_value) text += option.takes_path ? " -rF" : " -x";
    if (!option.values.empty()) text += fmt::format(" -a '{}'", joined(option.values));
    if (option.takes_problems) text += fmt::format(" -a '{}'", builtin_lists());
    text += '\n';
  }
  if (command.takes_token) text += fmt::format("complete -c fourtune -n '{}' -a '(__fourtune_token)'\n", condition);
  if (!command.arguments.empty())
    text += fmt::format("complete -c fourtune -n '{}' -f -a '{}'\n", condition, joined(command.arguments));
  return text;
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string text = "# fish completion of fourtune: fourtune completion fish | source\n";
  text += fmt::format(
      "function __fourtune_token\n"
      "  set -l cur (commandline -ct)\n"
      "  set -l head (string replace -r '[^,:]*$' '' -- $cur)\n"
      "  switch $cur\n"
      "    case 'fft:*'\n      for key in {}; echo $head$key; end\n"
      "    case 'nufft:*'\n      for key in {}; echo $head$key; end\n"
      "    case '*'\n      printf 'fft:\\nnufft:\\n'\n  end\nend\n",
      keys_text(Kind::fft), keys_text(Kind::nufft));
  std::string outside;  // a word may be a subcommand and, as in `pack show`, one of a group
  for (const Command& command : commands) {
    text += fmt::format("complete -c fourtune -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name,
                        quotable(command.description));
    if (!command.commands.empty()) outside += fmt::format("; and not __fish_seen_subcommand_from {}", command.name);
  }
  for (const Command& command : commands) {
    const std::string seen = fmt::format("__fish_seen_subcommand_from {}", command.name);
    if (command.commands.empty()) {
      text += fish_words(command, seen + outside);
      continue;
    }
    const std::string names = names_of(command.commands);
    for (const Command& sub : command.commands) {
      text += fmt::format("complete -c fourtune -n '{}; and not __fish_seen_subcommand_from {}' -f -a {} -d '{}'\n",
                          seen, names, sub.name, quotable(sub.description));
      text += fish_words(sub, fmt::format("{}; and __fish_seen_subcommand_from {}", seen, sub.name));
    }
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
    const auto commands = describe(app).commands;
    fmt::print("{}", name == "bash"  ? bash_script(commands)
                     : name == "zsh" ? zsh_script(commands)
                                     : fish_script(commands));
  });
}

}  // namespace fourtune::tools
