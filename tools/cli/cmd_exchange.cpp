// `fourtune export` and `fourtune import`: the tuning community's formats of results (T4) and tuning problems (T1).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "db/merge_stores.h"
#include "db/pack.h"
#include "tools/cli/commands.h"
#include "tools/cli/exchange_files.h"
#include "tools/cli/pack_files.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/gpu_argument.h"
#include "tools/common/problem_list.h"
#include "tools/common/say.h"
#include "tuner/report/t1.h"
#include "tuner/report/t4.h"

namespace fourtune::tools {
namespace {

struct ExportArguments {
  std::vector<std::string> problems;
  std::shared_ptr<std::string> db;
  std::string format = "t4";
  std::string device;
  std::string out;
  bool force = false;
};

std::string exported_results(const ExportArguments& arguments) {
  if (!arguments.device.empty())
    throw UsageError("--device: results are of the devices that measured them", "it goes with --format t1");
  const std::filesystem::path path = database_path(*arguments.db);
  require_database(*arguments.db);
  if (db::is_pack(path))
    throw UsageError(fmt::format("{} is a pack, without measurements", path.string()),
                     fmt::format("fourtune pack show {}", path.string()));
  std::vector<std::string> problems;
  for (const std::string& argument : arguments.problems) problems.push_back(to_token(problem_from_argument(argument)));
  const db::StoreContents contents = db::contents_of_store(path);
  if (contents.damage.any()) say("fourtune: note: {}; they are left out\n", contents.damage.text());
  return tuner::t4_text(contents, problems);
}

std::string exported_space(const ExportArguments& arguments) {
  if (arguments.problems.size() != 1)
    throw UsageError("--format t1 takes one problem", "fourtune export TOKEN --format t1 --device h100 -o space.json");
  return tuner::t1_text(problem_from_argument(arguments.problems.front()),
                        gpu_traits(arguments.device.empty() ? "h200" : arguments.device));
}

void export_as(const ExportArguments& arguments) {
  require_free(arguments.out, arguments.force);
  const std::string text = arguments.format == "t1" ? exported_space(arguments) : exported_results(arguments);
  write_whole_file(arguments.out, std::as_bytes(std::span(text)));
}

struct ImportArguments {
  std::string file;
  std::shared_ptr<std::string> db;
};

void import_results(const ImportArguments& arguments) {
  const std::filesystem::path path = database_path(*arguments.db);
  if (db::is_pack(path))
    throw UsageError(fmt::format("{}: is a pack, not a tuning database", path.string()), "--db names a database");
  const std::string text = text_of_file(arguments.file);
  db::StoreContents contents;
  try {
    contents = tuner::contents_of_t4(text);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", arguments.file, error.what()));
  }
  const db::StoreContents inputs[] = {std::move(contents)};
  const db::MergedStores merged = db::merge_stores(path, inputs);
  fmt::print("{}: {} sessions and {} measurements were new\n", text::shown(path.string(), 4096), merged.sessions,
             merged.runs);
}

}  // namespace

void add_exchange(CLI::App& app) {
  auto out = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand("export", "Write measurements or a search space in a format of other tuners");
  command->add_option("PROBLEM", out->problems, "Problem tokens (default, for t4: all)")->type_name("TOKEN");
  out->db = add_database_option(*command);
  command->add_option("--format", out->format, "Results (t4) or the search space of a problem on a GPU (t1)")
      ->check(CLI::IsMember({"t4", "t1"}))
      ->capture_default_str();
  command->add_option("--device", out->device, "The GPU of the search space, a name or a number (default: h200)")
      ->type_name("GPU");
  command->add_option("-o,--out", out->out, "The JSON file to write")->required()->type_name("FILE");
  command->add_flag("--force", out->force, "Replace an existing file");
  command->footer(
      "Example:\n"
      "  fourtune export --db my.db -o results.json\n"
      "  fourtune export fft:type=c2c,n=512x512,prec=f32 --format t1 --device h100 -o space.json");
  command->callback([out] { export_as(*out); });

  auto in = std::make_shared<ImportArguments>();
  command = app.add_subcommand("import", "Add measurements that `fourtune export` wrote to a database");
  command->add_option("FILE", in->file, "Results in the format T4")->required()->type_name("FILE");
  in->db = add_database_option(*command);
  command->footer(
      "Measurements are evidence, not winners: `fourtune tune` goes on from them and checks what wins.\n\n"
      "Example:\n"
      "  fourtune import results.json --db my.db");
  command->callback([in] { import_results(*in); });
}

}  // namespace fourtune::tools
