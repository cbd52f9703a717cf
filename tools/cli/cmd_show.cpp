#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/spelling.h"
#include "base/text.h"
#include "db/pack.h"
#include "db/tuning_store.h"
#include "tools/cli/commands.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/numbers.h"
#include "tools/common/output.h"
#include "tools/common/problem_list.h"
#include "tools/common/say.h"
#include "tuner/report/report.h"

namespace fourtune::tools {
namespace {

struct ShowArguments {
  std::vector<std::string> problems;
  std::shared_ptr<std::string> db;
  Output output;
  std::size_t runner_ups = 2;
};

// The command that goes on tuning: that of the last session, which was stopped before it chose, with the user's own
// options; of another program, or where there was none, a command to begin with. asked: a token, or empty for all.
std::string tune_command(const db::TuningStore& store, const std::string& asked) {
  std::vector<db::StoredSession> sessions = store.sessions();
  if (!asked.empty()) {
    std::set<db::SessionId> measured;
    for (const db::StoredRun& run : store.runs(asked)) measured.insert(run.session);
    std::erase_if(sessions, [&](const db::StoredSession& one) { return measured.count(one.id) == 0; });
  }
  const std::string command = sessions.empty() ? std::string() : sessions.back().command;
  const std::filesystem::path program = command.substr(0, command.find(' '));
  if (program.filename() == "fourtune") return text::shown(command, 4096);
  return fmt::format("fourtune tune {} --seconds 60", asked.empty() ? "--problems builtin:quick" : asked);
}

// What to do where no problem was tuned, or not the one that was asked for last.
void say_what_is_there(const db::TuningStore& store, const std::filesystem::path& path, const std::string& asked) {
  std::set<std::string> tuned;
  for (const tuner::ShowRow& row : tuner::show_rows(store, {})) tuned.insert(row.problem);
  const std::string file = text::shown(path.string(), 4096);
  if (tuned.empty()) {
    fmt::print("nothing tuned yet in {}\n", file);
    say("hint: {}\n", tune_command(store, asked));
    return;
  }
  fmt::print("{} problem{} tuned in {}, but not {}\n", tuned.size(), tuned.size() == 1 ? " is" : "s are", file, asked);
  const std::vector<std::string> words(tuned.begin(), tuned.end());
  if (const std::string near = nearest_word(asked, words); !near.empty()) say("note: one that is near: {}\n", near);
  say("hint: {}\n", tune_command(store, asked));
}

void show(const ShowArguments& arguments) {
  const std::filesystem::path path = database_path(*arguments.db);
  require_database(*arguments.db);
  if (db::is_pack(path))
    throw UsageError(fmt::format("{} is a pack", path.string()), fmt::format("fourtune pack show {}", path.string()));
  const auto store = db::TuningStore::open_for_reading(path);
  const auto format = tuner::format_from(arguments.output.format);
  if (const db::Damage damage = store.damage(); damage.any())
    say("fourtune: note: {}; they are passed over\n", damage.text());
  std::vector<tuner::ShowRow> rows;
  tuner::ShowOptions options;
  options.runner_ups = arguments.runner_ups;
  if (arguments.problems.empty()) rows = tuner::show_rows(store, options);
  for (const std::string& argument : arguments.problems) {
    options.problem = to_token(problem_from_argument(argument));
    const auto found = tuner::show_rows(store, options);
    if (found.empty()) say("fourtune: note: {} has not been tuned\n", options.problem);
    rows.insert(rows.end(), found.begin(), found.end());
  }
  if (rows.empty() && format == tuner::Format::table) {
    say_what_is_there(store, path, options.problem);
    return;
  }
  fmt::print("{}", tuner::format_rows(rows, format, arguments.output.screen()));
}

}  // namespace

void add_show(CLI::App& app) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = app.add_subcommand("show", "Winners, runner-ups and gains in the tuning database");
  command->add_option("PROBLEM", arguments->problems, "Problem tokens (default: all)")->type_name("TOKEN");
  arguments->db = add_database_option(*command);
  add_output_options(*command, arguments->output, {"table", "csv", "json"});
  command->add_option("--runner-ups", arguments->runner_ups, "Plans to list after each winner")
      ->check(between(0, 1000000))
      ->type_name("N");
  command->footer(
      "Example:\n"
      "  fourtune show\n"
      "  fourtune show --format csv --runner-ups 0 > winners.csv");
  command->callback([arguments] { show(*arguments); });
}

}  // namespace fourtune::tools
