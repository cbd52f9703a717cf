// `fourtune pack show`, `verify` and `diff`: what a pack holds, whether it is whole, and what another one changes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/spelling.h"
#include "base/text.h"
#include "db/signature.h"
#include "tools/cli/pack_commands.h"
#include "tools/cli/pack_files.h"
#include "tools/common/errors.h"
#include "tools/common/numbers.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"

namespace fourtune::tools {
namespace {

std::string seconds_text(const db::PackPlan& plan) { return tuner::format_seconds(plan.verdict.winner_ns * 1e-9); }

// ---- show
struct ShowArguments {
  std::string path;
  Output output;
  std::optional<std::size_t> limit;
};

std::string devices_text(const db::PackContents& contents) {
  std::set<std::string> devices;
  for (const db::PackPlan& plan : contents.plans)
    devices.insert(fmt::format("{} ({})", plan.environment.device, plan.environment.isa));
  return fmt::format("{}", fmt::join(devices, ", "));
}

void print_head(const std::string& path, const db::PackContents& contents, const tuner::Screen& screen) {
  const db::PackManifest& manifest = contents.manifest;
  const auto winners =
      std::count_if(contents.plans.begin(), contents.plans.end(), [](const db::PackPlan& p) { return p.rank == 0; });
  std::vector<Cells> head{
      {"pack", fmt::format("{} {}", manifest.name, manifest.version)},
      {"licence", manifest.licence.empty() ? "not said" : manifest.licence},
      {"made by", fmt::format("{}, {}", manifest.program, manifest.plan_language)},
      {"devices", devices_text(contents)},
      {"holds",
       fmt::format("{} winners, {} runners-up, {} kernels, {}", winners, std::ssize(contents.plans) - winners,
                   contents.kernels.size(), bytes_text(static_cast<std::int64_t>(std::filesystem::file_size(path))))}};
  for (const std::string& source : manifest.sources) head.push_back({"from", source});
  for (const db::Borrowing& one : manifest.borrowings)
    head.push_back({"borrowed", fmt::format("{} of {}: {} {} problems, {:.3g} of the tuned speed, least {:.3g} ({})",
                                            one.device, one.of_neighbours() ? "neighbours" : one.from, one.problems,
                                            one.kind, one.speed, one.least, one.date)});
  fmt::print("{}\n", tuner::table_text(head, {{}, -1, 1}, screen));
}

Json manifest_json(const std::string& path, const db::PackContents& contents) {
  const db::PackManifest& manifest = contents.manifest;
  Json devices = Json::array();
  std::set<std::pair<std::string, std::string>> seen;
  for (const db::PackPlan& plan : contents.plans)
    if (seen.emplace(plan.environment.device, plan.environment.isa).second)
      devices.push_back({{"device", plan.environment.device}, {"isa", plan.environment.isa}});
  Json borrowings = Json::array();
  for (const db::Borrowing& one : manifest.borrowings)
    borrowings.push_back({{"device", one.device},
                          {"from", one.from},
                          {"kind", one.kind},
                          {"problems", one.problems},
                          {"speed", one.speed},
                          {"least", one.least},
                          {"date", one.date}});
  Json kernels = Json::array();
  for (const db::PackKernel& kernel : contents.kernels)
    kernels.push_back({{"digest", kernel.digest},
                       {"entry", kernel.entry},
                       {"target", kernel.target},
                       {"compiler", kernel.compiler},
                       {"bytes", kernel.kernel.image.size()}});
  return {{"pack", path},
          {"name", manifest.name},
          {"version", manifest.version},
          {"licence", manifest.licence},
          {"program", manifest.program},
          {"plan_language", manifest.plan_language},
          {"sources", manifest.sources},
          {"borrowings", std::move(borrowings)},
          {"devices", std::move(devices)},
          {"kernels", std::move(kernels)}};
}

// Behind the plan of a winner that won by something else than its time, as `fourtune show` says it.
std::string objective_text(const db::PackPlan& plan) {
  const db::Verdict& v = plan.verdict;
  if (plan.rank != 0 || v.objective == db::Objective::time) return {};
  return fmt::format("  (by {}: {:.2f} to {:.2f} times less)", db::to_string(v.objective), v.ratio_low, v.ratio_high);
}

void show(const ShowArguments& arguments) {
  const db::PackContents contents = contents_of_pack(arguments.path);
  constexpr std::size_t kScreen = 20;
  std::size_t limit = arguments.limit.value_or(arguments.output.format == "table" ? kScreen : 0);
  if (limit == 0) limit = contents.plans.size();
  const std::size_t count = std::min(limit, contents.plans.size());
  if (arguments.output.json()) {
    Json result = manifest_json(arguments.path, contents);
    result["plans"] = Json::array();
    for (std::size_t i = 0; i < count; ++i) result["plans"].push_back(json_of(contents.plans[i]));
    fmt::print("{}", json_text(result));
    return;
  }
  const bool is_table = arguments.output.format == "table";
  std::vector<Cells> rows{
      {"problem", "rank", is_table ? "time" : "seconds", "gain", "error", "device", "date", "plan"}};
  if (!is_table) rows.front().push_back("objective");
  for (std::size_t i = 0; i < count; ++i) {
    const db::PackPlan& plan = contents.plans[i];
    rows.push_back({plan.verdict.problem, plan.rank == 0 && is_table ? "winner" : std::to_string(plan.rank),
                    is_table ? seconds_text(plan) : fmt::format("{:.9f}", plan.verdict.winner_ns * 1e-9),
                    gain_text(plan), plan.error ? fmt::format("{:.1e}", *plan.error) : "-", plan.environment.device,
                    date_text(plan.created_ms), plan.verdict.plan + (is_table ? objective_text(plan) : "")});
    if (!is_table) rows.back().push_back(db::to_string(plan.verdict.objective));
  }
  if (!is_table) {
    fmt::print("{}", csv_text(rows));
    return;
  }
  print_head(arguments.path, contents, arguments.output.screen());
  fmt::print("{}", tuner::table_text(rows, {{2, 3, 4}, 0, 7}, arguments.output.screen()));
  if (count < contents.plans.size()) fmt::print("and {} more; --limit 0 lists all\n", contents.plans.size() - count);
}

// ---- verify
struct VerifyArguments {
  std::string path, key_file, format = "table";
};

std::string wanted_key(const std::string& file) {
  if (file.empty()) return {};
  const std::string key = db::read_key(file);
  try {
    return db::bare_public_key(key);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--key {}: {}", file, error.what()));
  }
}

// What is wrong with the pack; empty: nothing.
std::vector<std::string> faults_of(const db::Pack& pack, const db::PackCheck& check, const std::string& key) {
  std::vector<std::string> faults;
  if (check.damaged > 0) faults.push_back(fmt::format("{} plans or kernels are not what was written", check.damaged));
  if (check.plans + check.damaged < pack.size())
    faults.push_back(fmt::format("{} plans are missing", pack.size() - check.plans - check.damaged));
  if (!check.is_complete && faults.empty())
    faults.emplace_back("the plans and kernels are not those that the manifest names");
  if (!check.signature_fault.empty()) faults.push_back(check.signature_fault);
  if (!key.empty() && check.signer.empty() && check.signature_fault.empty()) faults.emplace_back("it is not signed");
  if (!key.empty() && !check.signer.empty() && check.signer != key)
    faults.push_back(fmt::format("it is signed by {}, not by the key that was given", check.signer));
  return faults;
}

void verify(const VerifyArguments& arguments) {
  const std::string key = wanted_key(arguments.key_file);
  const auto pack = opened_pack(arguments.path);
  db::PackCheck check;
  reading_pack([&] { check = pack->check(); });
  const auto faults = faults_of(*pack, check, key);
  if (arguments.format == "json") {
    fmt::print("{}", json_text({{"pack", arguments.path},
                                {"name", pack->manifest().name},
                                {"version", pack->manifest().version},
                                {"right", faults.empty()},
                                {"complete", check.is_complete},
                                {"plans", check.plans},
                                {"kernels", check.kernels},
                                {"damaged", check.damaged},
                                {"signer", check.signer.empty() ? Json() : Json(check.signer)},
                                {"faults", faults}}));
  } else if (faults.empty()) {
    fmt::print("{}: {} {}: whole, {} and {} as written; {}\n", text::shown(arguments.path, 4096),
               text::shown(pack->manifest().name), text::shown(pack->manifest().version), counted(check.plans, "plan"),
               counted(check.kernels, "kernel"),
               check.signer.empty() ? std::string("not signed") : "signed by " + check.signer);
  }
  if (!faults.empty()) throw Failure(fmt::format("{}: {}", arguments.path, fmt::join(faults, "; ")));
}

// ---- diff
struct DiffArguments {
  std::string before, after;
  Output output;
};

Json diff_json(const db::PackDifference& difference) {
  const auto list = [](const std::vector<db::PackPlan>& plans) {
    Json all = Json::array();
    for (const db::PackPlan& plan : plans) all.push_back(json_of(plan));
    return all;
  };
  Json changed = Json::array();
  for (const db::PackChange& change : difference.changed)
    changed.push_back({{"problem", change.after.verdict.problem},
                       {"device", change.after.environment.device},
                       {"gain", change.gain},
                       {"before", json_of(change.before)},
                       {"after", json_of(change.after)}});
  return {{"added", list(difference.added)},
          {"removed", list(difference.removed)},
          {"changed", std::move(changed)},
          {"same", difference.same},
          {"measured_again", difference.measured_again},
          {"kernels_added", difference.kernels_added},
          {"kernels_removed", difference.kernels_removed}};
}

void print_diff(const db::PackDifference& difference, const tuner::Screen& screen) {
  std::vector<Cells> rows{{"problem", "", "device", "before", "after", "gain", "plan"}};
  const auto add = [&](const char* what, const db::PackPlan& plan, bool is_new) {
    rows.push_back({plan.verdict.problem, what, plan.environment.device, is_new ? "-" : seconds_text(plan),
                    is_new ? seconds_text(plan) : "-", "-", plan.verdict.plan});
  };
  for (const db::PackPlan& plan : difference.removed) add("removed", plan, false);
  for (const db::PackPlan& plan : difference.added) add("added", plan, true);
  for (const db::PackChange& change : difference.changed)
    rows.push_back({change.after.verdict.problem, "changed", change.after.environment.device,
                    seconds_text(change.before), seconds_text(change.after), fmt::format("{:.2f}", change.gain),
                    fmt::format("{} -> {}", change.before.verdict.plan, change.after.verdict.plan)});
  if (rows.size() > 1) fmt::print("{}", tuner::table_text(rows, {{3, 4, 5}, 0, 6}, screen));
  fmt::print(
      "{} added, {} removed, {} changed, {} with the same winner ({} measured again); kernels: {} added, {} removed\n",
      difference.added.size(), difference.removed.size(), difference.changed.size(), difference.same,
      difference.measured_again, difference.kernels_added, difference.kernels_removed);
}

void compare(const DiffArguments& arguments) {
  const auto difference = db::diff(contents_of_pack(arguments.before), contents_of_pack(arguments.after));
  if (arguments.output.json())
    fmt::print("{}", json_text(diff_json(difference)));
  else
    print_diff(difference, arguments.output.screen());
}

}  // namespace

void add_pack_show(CLI::App& pack) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = pack.add_subcommand("show", "What a pack holds");
  command->add_option("PACK", arguments->path, "The pack")->required()->type_name("FILE");
  add_output_options(*command, arguments->output, {"table", "csv", "json"});
  command->add_option("--limit", arguments->limit, "Plans to list; 0: all (default: 20 in a table, else all)")
      ->check(between(0, 1'000'000'000))
      ->type_name("N");
  command->footer(
      "Example:\n"
      "  fourtune pack show plans.pack\n"
      "  fourtune pack show plans.pack --format csv > plans.csv");
  command->callback([arguments] { show(*arguments); });
}

void add_pack_verify(CLI::App& pack) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = pack.add_subcommand("verify", "Check that a pack is whole, and who signed it");
  command->add_option("PACK", arguments->path, "The pack")->required()->type_name("FILE");
  command->add_option("--key", arguments->key_file, "Public key by which it has to be signed")->type_name("FILE");
  add_report_format(*command, arguments->format);
  command->footer(
      "Example:\n"
      "  fourtune pack verify plans.pack --key maker.public\n\n"
      "Ends with 1 unless every plan and kernel is what was written and the signature, if there is one, is right.");
  command->callback([arguments] { verify(*arguments); });
}

void add_pack_diff(CLI::App& pack) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* command = pack.add_subcommand("diff", "Compare the winners of two packs");
  command->add_option("A", arguments->before, "The older pack")->required()->type_name("FILE");
  command->add_option("B", arguments->after, "The newer pack")->required()->type_name("FILE");
  add_output_options(*command, arguments->output);
  command->footer(
      "Example:\n"
      "  fourtune pack diff plans-1.pack plans-2.pack\n\n"
      "A gain above 1 means that B is faster. Ends with 0 also where the packs differ.");
  command->callback([arguments] { compare(*arguments); });
}

}  // namespace fourtune::tools
