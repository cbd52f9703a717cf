// `fourtune merge OUT IN...`: joins the tuning databases of several processes or hosts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/text.h"
#include "db/pack.h"
#include "tools/cli/commands.h"
#include "tools/cli/pack_files.h"
#include "tools/cli/shards.h"
#include "tools/common/errors.h"

namespace fourtune::tools {
namespace {

struct MergeArguments {
  std::string out;
  std::vector<std::string> inputs;
  std::string policy = "newest";
  std::string format = "table";
};

void merge(const MergeArguments& arguments) {
  if (db::is_pack(arguments.out))
    throw UsageError(fmt::format("{}: is a pack, not a tuning database", arguments.out),
                     "`fourtune pack merge` joins packs");
  const db::MergedStores merged = join_shards(arguments.out, {arguments.inputs.begin(), arguments.inputs.end()},
                                              db::merge_policy_from(arguments.policy));
  if (arguments.format == "json") {
    fmt::print("{}", json_text({{"database", arguments.out},
                                {"sessions", merged.sessions},
                                {"runs", merged.runs},
                                {"verdicts", merged.verdicts},
                                {"conflicts", conflicts_json(merged.conflicts)}}));
    return;
  }
  print_conflicts(merged.conflicts);
  fmt::print("{}: {} sessions, {} measurements and {} verdicts were new\n", text::shown(arguments.out, 4096),
             merged.sessions, merged.runs, merged.verdicts);
}

}  // namespace

void add_merge(CLI::App& app) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = app.add_subcommand("merge", "Join the tuning databases of several processes or hosts");
  command->add_option("OUT", arguments->out, "The database to add to; made if it is missing")
      ->required()
      ->type_name("FILE");
  command->add_option("IN", arguments->inputs, "Databases, also while they are being written")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--policy", arguments->policy,
                   "Which of several winners for one problem stays: the one decided last, or the fastest")
      ->check(CLI::IsMember({"newest", "fastest"}))
      ->capture_default_str();
  add_report_format(*command, arguments->format);
  command->footer(
      "The order of the inputs makes no difference, and what OUT has already stays.\n\n"
      "Example:\n"
      "  fourtune tune --problems list.txt --shard 1/2 --db my.db     (on one host; 2/2 on another)\n"
      "  fourtune merge my.db my.shard-*-of-2.db");
  command->callback([arguments] { merge(*arguments); });
}

}  // namespace fourtune::tools
