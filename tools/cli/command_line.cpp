// Declares the subcommands, runs the requested one, turns failures into exit codes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/spelling.h"
#include "base/text.h"
#include "fourtune/fourtune.h"
#include "fourtune/status.h"
#include "tools/bench/bench.h"
#include "tools/cli/commands.h"
#include "tools/cli/help.h"
#include "tools/common/errors.h"
#include "tools/common/say.h"
#include "tools/common/standard_files.h"
#include "tools/common/text.h"
#include "tuner/report/screen.h"

namespace fourtune::tools {
namespace {

int complain(std::string message, const std::string& hint, int code) {
  constexpr std::size_t kLongest = 4000;  // bytes; arguments and files may have any size
  for (char& letter : message)
    if (letter == '\n') letter = ' ';
  const auto mark = tuner::painted("error:", tuner::Paint::bad, tuner::screen_of(stderr));
  say("fourtune: {} {}\n", mark, text::shown(message, kLongest));
  if (!hint.empty()) say("hint: {}\n", hint);
  return code;
}

// Decides which failures of the library are caused by the user's input, and what to suggest. usage: where the command's
// input is explained.
int complain(const Error& error, const std::string& usage) {
  switch (error.status()) {
    case Status::interrupted:
      say("fourtune: {}\n", error.what());
      return kExitInterrupted;
    case Status::invalid_plan:
      return complain(error.what(), "`fourtune explain PROBLEM` prints a plan that is right", kExitUsage);
    case Status::tolerance_unreachable:
      return complain(error.what(), "ask for a larger tol, or prec=f64", kExitUsage);
    case Status::invalid_problem:
    case Status::invalid_option:
    case Status::invalid_argument:
    case Status::invalid_point:
    case Status::contradiction:
    case Status::size_overflow:
      return complain(error.what(), usage, kExitUsage);
    case Status::backend_unavailable:
      return complain(error.what(), "`fourtune doctor` lists what this machine and this build have", kExitFailure);
    case Status::database:
      return complain(error.what(), "--db PATH chooses another database; the file was left as it is", kExitFailure);
    default:
      return complain(error.what(), {}, kExitFailure);
  }
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& words,
                         const std::string& otherwise) {
  const std::string near = nearest_word(typed, words);
  return near.empty() ? otherwise : fmt::format("did you mean {}?", near);
}

// The long names, as typed.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Also where a command has flushed before, which drops what could not be written.
bool output_is_written() { return std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

// `fourtune help tune` is `fourtune tune --help`.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

// The subcommand that was typed, such as `fourtune pack show`, and how many words it has.
struct Chosen {
  const CLI::App* app;
  std::string words = "fourtune";
  std::size_t depth = 0;
  std::string hint() const { return fmt::format("`{} --help` has an example", words); }
};
Chosen chosen(const CLI::App& app) {
  Chosen found{.app = &app};
  for (auto next = app.get_subcommands(); !next.empty(); next = found.app->get_subcommands(), ++found.depth) {
    found.app = next.front();
    found.words += " " + found.app->get_name();
  }
  return found;
}

// Prints the message of CLI11 and where to read on. `words` are the arguments.
int complain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  const Chosen command = chosen(app);
  std::vector<std::string> names;
  for (const CLI::App* sub :
       command.app->get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); }))
    names.push_back(sub->get_name());
  const std::size_t depth = command.depth;
  if (!names.empty() && depth < words.size() && !words[depth].empty() && words[depth].front() != '-')
    return complain(fmt::format("there is no subcommand '{}'", text::shown(words[depth])),
                    did_you_mean(words[depth], names, fmt::format("one of {}", fmt::join(names, ", "))), kExitUsage);
  const auto options = options_of(*command.app);
  for (std::size_t i = depth; i < words.size(); ++i) {
    const std::string option = words[i].substr(0, words[i].find('='));
    if (option.starts_with("--") && option.size() > 2 &&
        std::find(options.begin(), options.end(), option) == options.end())
      return complain(fmt::format("{} has no option '{}'", command.words, text::shown(option)),
                      did_you_mean(option, options, command.hint()), kExitUsage);
  }
  return complain(error.what(), command.hint(), kExitUsage);
}

void declare(CLI::App& app, const std::string& command_line) {
  app.description("Tunes and runs fast Fourier transforms, uniform (FFT) and nonuniform (NUFFT types 1, 2, 3).");
  app.set_help_all_flag("--help-all", "Help of every subcommand");
  app.set_version_flag("--version", std::string("fourtune ") + fourtune_version());
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app.require_subcommand(1);
  app.footer(
      "Example:\n"
      "  fourtune tune --problems builtin:quick --seconds 60\n"
      "  fourtune show\n\n"
      "`fourtune help SUBCOMMAND` has an example for each. Exit codes: 0 done, 1 failed, 2 bad usage or input,\n"
      "75 too busy to judge, 130 interrupted.");
  add_tune(app, command_line);
  add_merge(app);
  add_report(app);
  add_exchange(app);
  add_show(app);
  add_explain(app);
  add_plan(app);
  add_emit(app);
  add_run(app);
  add_warm(app);
  add_calibrate(app);
  add_soak(app);
  add_doctor(app);
  add_bench(app);
  add_pack(app);
  add_worker(app);
  add_version(app);
  add_completion(app);
}

}  // namespace

int run_command_line(int argc, char** argv) try {
  // If a file reaches its limit (ulimit -f), the write fails with a named error instead of ending the program.
  std::signal(SIGXFSZ, SIG_IGN);
  occupy_standard_files();
  CLI::App app;
  app.name("fourtune");
  declare(app, command_text(argc, argv));
  const std::vector<std::string> words = arguments_of(argc, argv);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // wants the last one first
    return output_is_written() ? 0 : complain("the output could not be written", {}, kExitFailure);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // --help, --version
    if (asked && app.remaining_size(true) == 0) {
      const int code = app.exit(error);
      return output_is_written() ? code : complain("the output could not be written", {}, kExitFailure);
    }
    return complain(app, error, words);
  } catch (const Failure& error) {
    return complain(error.what(), error.hint(), error.code());
  } catch (const UsageError& error) {
    return complain(error.what(), error.hint().empty() ? chosen(app).hint() : error.hint(), kExitUsage);
  } catch (const Error& error) {
    return complain(error, chosen(app).hint());
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", "a smaller problem, or a smaller batch", kExitFailure);
  }
} catch (const std::exception& error) {
  return complain(error.what(), {}, kExitFailure);
}

}  // namespace fourtune::tools
