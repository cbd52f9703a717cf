// `fourtune report`: the results in a database, as one page for a browser.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "base/text.h"
#include "db/pack.h"
#include "tools/bench/report/report.h"
#include "tools/cli/commands.h"
#include "tools/cli/pack_files.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/say.h"
#include "tuner/report/html.h"
#include "tuner/report/plots.h"

namespace fourtune::tools {
namespace {

struct ReportArguments {
  std::string database;
  std::string out;
  std::string png;  // folder for drawings; empty: none
  bool force = false;
};

// Draws each plot as a file of the folder; where gnuplot is missing its scripts are written instead.
void write_plots(const std::vector<tuner::Story>& stories, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw cannot_make(text::shown(folder.string(), 4096), error.message());
  for (const tuner::Plot& plot : tuner::plots_of(stories)) {
    const std::string path = (folder / (plot.name + ".png")).string();
    fmt::print("{}\n", plot_script(fmt::format("set terminal pngcairo size 900,{} noenhanced\nset output {}\n{}",
                                               plot.height, gnuplot_quoted(path), plot.script),
                                   path));
  }
}

void report(const ReportArguments& arguments) {
  const std::filesystem::path path = database_path(arguments.database);
  require_database(arguments.database);
  if (db::is_pack(path))
    throw UsageError(fmt::format("{} is a pack, without the measurements that a report shows", path.string()),
                     fmt::format("fourtune pack show {}", path.string()));
  require_free(arguments.out, arguments.force);
  const auto store = db::TuningStore::open_for_reading(path);
  const auto moment = store.one_moment();
  if (const db::Damage damage = store.damage(); damage.any())
    say("fourtune: note: {}; they are passed over\n", damage.text());
  const auto stories = tuner::stories_of(store);
  const std::string page = tuner::html_report(stories, path.filename().string());
  write_whole_file(arguments.out, std::as_bytes(std::span(page)));
  if (!arguments.png.empty()) write_plots(stories, arguments.png);
  fmt::print("{}: {} problem{}\n", text::shown(arguments.out, 4096), stories.size(), stories.size() == 1 ? "" : "s");
}

}  // namespace

void add_report(CLI::App& app) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "Write the results in a database as a page for a browser");
  command->add_option("DB", arguments->database, "Tuning database (default: the user's)")->type_name("FILE");
  command->add_option("-o,--out", arguments->out, "The HTML file to write")->required()->type_name("FILE");
  command
      ->add_option("--png", arguments->png,
                   "Also draw the gains and the course of each search there, as gains.png and search-1.png, ... "
                   "(gnuplot)")
      ->type_name("DIR");
  command->add_flag("--force", arguments->force, "Replace an existing file");
  command->footer(
      "The page needs no network and has no scripts.\n\n"
      "Example:\n"
      "  fourtune report my.db -o report.html\n"
      "  fourtune report my.db -o report.html --png drawings");
  command->callback([arguments] { report(*arguments); });
}

}  // namespace fourtune::tools
