// `fourtune pack build`: a pack of what tuning databases, and other packs, hold.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "base/text.h"
#include "base/usable_threads.h"
#include "db/store_error.h"
#include "fourtune/problem.h"
#include "runtime/backends/cuda/pack_kernels.h"
#include "runtime/neighbour.h"
#include "tools/cli/pack_commands.h"
#include "tools/cli/pack_files.h"
#include "tools/common/database_option.h"
#include "tools/common/errors.h"
#include "tools/common/numbers.h"
#include "tools/common/problem_list.h"
#include "tools/common/progress.h"
#include "tools/common/say.h"
#include "tools/common/stopwatch.h"

namespace fourtune::tools {
namespace {

struct BuildArguments {
  PackOutput output;
  std::vector<std::string> from, kernels;
  std::string device, backend, problems, filter, plan_language, borrowings;
  std::size_t runners_up = 0;
  std::string policy = "newest";
};

std::string lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

// What the user asked for, and what was seen while it was looked for.
class Choice {
 public:
  explicit Choice(const BuildArguments& arguments) : arguments_(arguments), device_(lower(arguments.device)) {
    if (arguments.problems.empty()) return;
    for (const Problem& problem : problems_from_file(arguments.problems)) missing_.insert(to_token(problem));
    asked_ = missing_;
  }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  bool keeps(const std::string& problem, const db::Environment& environment) {
    devices_.insert(environment.device);
    if (lower(environment.device).find(device_) == std::string::npos) return false;
    if (!arguments_.backend.empty() && environment.backend != arguments_.backend) return false;
    if (problem.find(arguments_.filter) == std::string::npos) return false;
    if (!arguments_.problems.empty() && !asked_.contains(problem)) return false;
    if (!arguments_.plan_language.empty() && environment.generator != arguments_.plan_language) return false;
    languages_.insert(environment.generator);
    missing_.erase(problem);
    return true;
  }

  // Throws UsageError.
  void require_one_language() const {
    if (languages_.size() < 2) return;
    std::vector<std::string> names;
    for (const std::string& language : languages_) names.push_back(fmt::format("'{}'", text::shown(language)));
    throw UsageError(fmt::format("plan languages are mixed: {}", fmt::join(names, ", ")),
                     fmt::format("make one pack for each: --plan-language {}", names.back()));
  }
  [[noreturn]] void fail_empty() const {
    if (devices_.empty())
      throw Failure("there are no tuned plans to pack", "fourtune tune --problems builtin:quick --seconds 60");
    throw Failure(
        "no tuned plan is of what was asked for",
        fmt::format("there are plans of {}", text::shown(fmt::format("{}", fmt::join(devices_, ", ")), 1000)));
  }
  void note_missing() const {
    if (missing_.empty()) return;
    say("fourtune: note: {} of the {} problems in {} have no winner, the first is {}\n", missing_.size(), asked_.size(),
        text::shown(arguments_.problems), *missing_.begin());
  }

 private:
  const BuildArguments& arguments_;
  const std::string device_;
  std::set<std::string> asked_, missing_, devices_, languages_;
};

void place(db::PackPlan& plan) {
  const auto where = runtime::neighbourhood_of(parse_problem(plan.verdict.problem));
  plan.kin = where.kin;
  plan.size = where.size;
}

db::PackContents contents_of_database(const std::string& path, const BuildArguments& arguments, Choice& choice) try {
  const auto store = db::TuningStore::open_for_reading(path);
  db::FromDatabase options;
  options.keep = [&](const std::string& problem, const db::Environment& e) { return choice.keeps(problem, e); };
  options.runners_up = arguments.runners_up;
  options.place = place;
  auto found = db::from_database(store, options);
  if (found.passed_over > 0)
    say("fourtune: note: {} winners of {} are not problems and plans of this version; they are left out\n",
        found.passed_over, text::shown(path));
  db::PackContents contents;
  contents.plans = std::move(found.plans);
  std::size_t winners = 0;
  std::int64_t last = 0;
  for (const db::PackPlan& plan : contents.plans) {
    winners += plan.rank == 0;
    last = std::max(last, plan.created_ms);
    contents.manifest.plan_language = plan.environment.generator;
  }
  // The name without its folder: a pack says nothing of the machine's paths, and is the same wherever it is made.
  contents.manifest.sources = {fmt::format("database {}: {} winners, the last of {}",
                                           text::shown(std::filesystem::path(path).filename().string()), winners,
                                           date_text(last))};
  return contents;
} catch (const db::StoreError& error) {
  throw Failure(error.what(), "--from takes tuning databases and packs");
}

db::PackContents contents_of(const std::string& path, const BuildArguments& arguments, Choice& choice) {
  if (!db::is_pack(path)) return contents_of_database(path, arguments, choice);
  return db::filtered(contents_of_pack(path),
                      [&](const std::string& problem, const db::Environment& e) { return choice.keeps(problem, e); });
}

// Adds the kernels of the winners for every target asked for; those that the inputs had stay.
void add_kernels(db::PackContents& contents, const BuildArguments& arguments) {
  std::vector<db::PackPlan> winners;
  for (const db::PackPlan& plan : contents.plans)
    if (plan.rank == 0) winners.push_back(plan);
  std::set<std::string> have;
  for (const db::PackKernel& kernel : contents.kernels) have.insert(kernel.digest);
  for (const std::string& target : arguments.kernels) {
    const Stopwatch watch;
    ProgressLine line(stderr);
    auto made =
        runtime::cuda::compile_for_pack(winners, target, usable_threads(), [&](std::size_t done, std::size_t all) {
          const double seconds = watch.seconds();
          line.show(seconds, seconds * static_cast<double>(all - done) / static_cast<double>(done),
                    fmt::format("kernels of {} for {} of {} plans", target, done, all));
        });
    line.close();
    for (const std::string& reason : made.left_out) say("fourtune: note: no kernels of {} for {}\n", target, reason);
    if (made.kernels.empty()) say("fourtune: note: no plan of the pack was measured on a GPU of target {}\n", target);
    for (db::PackKernel& kernel : made.kernels)
      if (have.insert(kernel.digest).second) contents.kernels.push_back(std::move(kernel));
  }
}

// What a file of tools/pack_loss says, one measurement a line.
std::vector<db::Borrowing> borrowings_from(const std::string& path) {
  std::vector<db::Borrowing> all;
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("--borrowings {}: cannot be read", text::shown(path)));
  for (std::string line; std::getline(file, line);) try {
      if (!line.empty()) all.push_back(db::parse_borrowing(line));
    } catch (const Error& error) {
      throw UsageError(fmt::format("--borrowings {}: {}", text::shown(path), error.what()),
                       "tools/pack_loss writes such a file");
    }
  return all;
}

void build(const BuildArguments& arguments) {
  require_free(arguments.output);
  signing_key(arguments.output);  // a wrong one is named before the work
  std::vector<db::Borrowing> borrowings;
  if (!arguments.borrowings.empty()) borrowings = borrowings_from(arguments.borrowings);
  std::vector<std::string> from = arguments.from;
  if (from.empty()) from.push_back(database_path({}).string());
  Choice choice(arguments);
  std::vector<db::PackContents> inputs;
  for (const std::string& path : from) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      throw UsageError(fmt::format("{}: no such database or pack", path), "`fourtune tune` makes a database");
    auto contents = contents_of(path, arguments, choice);
    if (!contents.plans.empty())
      inputs.push_back(std::move(contents));
    else if (from.size() > 1)
      say("fourtune: note: {} has nothing of what was asked for\n", text::shown(path));
  }
  choice.require_one_language();
  if (inputs.empty()) choice.fail_empty();
  choice.note_missing();
  auto merged = db::merge(inputs, {db::merge_policy_from(arguments.policy), arguments.runners_up});
  add_kernels(merged.contents, arguments);
  if (!arguments.borrowings.empty()) merged.contents.manifest.borrowings = std::move(borrowings);
  write_and_report(std::move(merged), arguments.output);
}

}  // namespace

void add_pack_build(CLI::App& pack) {
  auto arguments = std::make_shared<BuildArguments>();
  CLI::App* command = pack.add_subcommand("build", "Make a pack of tuned plans");
  add_pack_output(*command, arguments->output);
  command->add_option("--from", arguments->from, "Tuning databases and packs (default: the user's database)")
      ->type_name("FILE");
  command->add_option("--device", arguments->device, "Only plans of devices whose name contains this")
      ->type_name("NAME");
  command->add_option("--backend", arguments->backend, "Only plans of this backend")->type_name("NAME");
  command->add_option("--problems", arguments->problems, "Only problems in this file, or builtin:quick")
      ->type_name("FILE");
  command->add_option("--filter", arguments->filter, "Only problems whose token contains this")->type_name("TEXT");
  command->add_option("--plan-language", arguments->plan_language, "Only plans of this plan language")
      ->type_name("TEXT");
  command->add_option("--runners-up", arguments->runners_up, "Plans to keep behind each winner")
      ->check(between(0, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--kernels", arguments->kernels,
                   "Compile the winners' kernels for these GPUs, such as sm_90, which need not be here; a machine that "
                   "trusts the pack then needs no compiler. compute_90 is PTX of those kernels, for later GPUs")
      ->delimiter(',')
      ->type_name("TARGET,...");
  command
      ->add_option("--borrowings", arguments->borrowings,
                   "What its plans lose where they are borrowed, as tools/pack_loss writes it; explain tells it")
      ->type_name("FILE");
  command->add_option("--policy", arguments->policy, "Which winner counts where the inputs have several")
      ->check(CLI::IsMember({"newest", "fastest", "first"}))
      ->capture_default_str();
  command->footer(
      "Example:\n"
      "  fourtune pack build plans.pack\n"
      "  fourtune pack build h200.pack --from a.db b.db --device h200 --runners-up 2 --licence CC0 --sign maker.secret\n"
      "  fourtune pack build h200.pack --from a.db --kernels sm_90 --sign maker.secret\n\n"
      "A database may be in use: the pack holds what it held at one moment. The same inputs give the same bytes.");
  command->callback([arguments] { build(*arguments); });
}

}  // namespace fourtune::tools
