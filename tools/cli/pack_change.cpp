// `fourtune pack merge`, `split` and `prune`: packs from packs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/text.h"
#include "db/pack_writer.h"
#include "tools/cli/pack_commands.h"
#include "tools/cli/pack_files.h"
#include "tools/common/errors.h"
#include "tools/common/numbers.h"

namespace fourtune::tools {
namespace {

// ---- merge
struct MergeArguments {
  PackOutput output;
  std::vector<std::string> inputs;
  std::string policy = "newest";
  std::optional<std::size_t> runners_up;
};

void merge(const MergeArguments& arguments) {
  require_free(arguments.output);
  signing_key(arguments.output);
  std::vector<db::PackContents> inputs;
  for (const std::string& path : arguments.inputs) inputs.push_back(contents_of_pack(path));
  auto merged =
      db::merge(inputs, {db::merge_policy_from(arguments.policy), arguments.runners_up.value_or(db::kAllRunnersUp)});
  write_and_report(std::move(merged), arguments.output);
}

// ---- split
struct SplitArguments {
  PackOutput output;
  std::string pack, by, folder;
};

// "NVIDIA H200" becomes "nvidia-h200".
std::string file_name_of(const std::string& part) {
  std::string name;
  for (const char letter : part) {
    const bool upper = letter >= 'A' && letter <= 'Z',
               plain = (letter >= 'a' && letter <= 'z') || letter == '_' || (letter >= '0' && letter <= '9');
    if (upper || plain)
      name += upper ? static_cast<char>(letter - 'A' + 'a') : letter;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  constexpr std::size_t kLongest = 40;
  name.resize(std::min(name.size(), kLongest));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "other" : name;
}

void split(const SplitArguments& arguments) {
  signing_key(arguments.output);
  const db::PackContents contents = contents_of_pack(arguments.pack);
  const auto parts = db::split(contents, arguments.by == "arch" ? db::SplitBy::arch : db::SplitBy::device);
  const std::string stem = arguments.output.name.empty() ? contents.manifest.name : arguments.output.name;
  std::vector<std::pair<PackOutput, const db::PackContents*>> outputs;
  std::set<std::string> taken;
  for (const auto& [part, its] : parts) {
    std::string name = file_name_of(part);
    for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}-{}", file_name_of(part), number);
    PackOutput output = arguments.output;
    output.name = fmt::format("{}-{}", stem, name).substr(0, 64);
    output.path = (std::filesystem::path(arguments.folder) / (output.name + ".pack")).string();
    require_free(output);
    outputs.emplace_back(std::move(output), &its);
  }
  std::error_code error;
  std::filesystem::create_directories(arguments.folder, error);
  if (error) throw cannot_make(arguments.folder, error.message());
  Json list = Json::array();
  for (const auto& [output, its] : outputs) {
    const WrittenPack written = write_pack(*its, output);
    list.push_back(json_of(written));
    if (arguments.output.format != "json") fmt::print("{}", text_of(written));
  }
  if (arguments.output.format == "json") fmt::print("{}", json_text(list));
}

// ---- prune
struct PruneArguments {
  PackOutput output;
  std::string pack, older_than;
  std::optional<std::uint64_t> max_bytes;
  std::optional<double> gain_below;
};

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// A number of days before now, or a date.
std::int64_t moment_of(const std::string& text) {
  using namespace std::chrono;
  constexpr std::int64_t kDay = 86'400'000;
  if (const auto count = text::number<std::int64_t>(text); count && *count >= 0 && *count <= 1'000'000)
    return now_ms() - *count * kDay;
  const auto parts = text::split(text, '-');
  if (parts.size() == 3 && parts[0].size() == 4) {
    const auto y = text::number<int>(parts[0]), m = text::number<int>(parts[1]), d = text::number<int>(parts[2]);
    if (y && m && d && *m > 0 && *d > 0) {
      const year_month_day date(year(*y), month(static_cast<unsigned>(*m)), day(static_cast<unsigned>(*d)));
      if (date.ok()) return duration_cast<milliseconds>(sys_days(date).time_since_epoch()).count();
    }
  }
  throw UsageError(fmt::format("--older-than {}: neither days nor a date", text), "90, or 2026-01-31");
}

void prune(const PruneArguments& arguments) {
  require_free(arguments.output);
  const std::string key = signing_key(arguments.output);
  db::PruneOptions options;
  if (arguments.max_bytes) options.max_bytes = static_cast<std::size_t>(*arguments.max_bytes);
  if (!arguments.older_than.empty()) options.older_than_ms = moment_of(arguments.older_than);
  options.gain_below = arguments.gain_below;
  if (!options.max_bytes && !options.older_than_ms && !options.gain_below)
    throw UsageError("nothing to prune by", "--max-bytes, --older-than or --gain-below");
  db::PackContents contents = contents_of_pack(arguments.pack);
  complete_manifest(contents.manifest, arguments.output);
  options.bytes_of = [&](const db::PackContents& some) { return db::pack_bytes(some, key).size(); };
  const std::size_t plans = contents.plans.size(), kernels = contents.kernels.size();
  db::PackContents left = db::prune(std::move(contents), options);
  const std::size_t dropped_plans = plans - left.plans.size(), dropped_kernels = kernels - left.kernels.size();
  const WrittenPack written = write_pack(std::move(left), arguments.output);
  if (arguments.output.format == "json") {
    Json result = json_of(written);
    result["dropped_plans"] = dropped_plans;
    result["dropped_kernels"] = dropped_kernels;
    fmt::print("{}", json_text(result));
    return;
  }
  fmt::print("{} plans and {} kernels dropped\n{}", dropped_plans, dropped_kernels, text_of(written));
}

}  // namespace

void add_pack_merge(CLI::App& pack) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command = pack.add_subcommand("merge", "Make one pack of several");
  add_pack_output(*command, arguments->output);
  command->add_option("IN", arguments->inputs, "The packs to merge")->required()->type_name("FILE");
  command->add_option("--policy", arguments->policy, "Which winner counts where the inputs have several")
      ->check(CLI::IsMember({"newest", "fastest", "first"}))
      ->capture_default_str();
  command->add_option("--runners-up", arguments->runners_up, "Plans to keep behind each winner (default: all)")
      ->check(between(0, 1'000'000))
      ->type_name("N");
  command->footer(
      "Example:\n"
      "  fourtune pack merge all.pack a.pack b.pack --policy fastest --runners-up 1\n\n"
      "The order of the inputs matters for --policy first only. Problems with different winners are listed.");
  command->callback([arguments] { merge(*arguments); });
}

void add_pack_split(CLI::App& pack) {
  auto arguments = std::make_shared<SplitArguments>();
  CLI::App* command = pack.add_subcommand("split", "Make one pack for each device or architecture");
  command->add_option("PACK", arguments->pack, "The pack")->required()->type_name("FILE");
  command->add_option("--by", arguments->by, "By what to split")->check(CLI::IsMember({"device", "arch"}))->required();
  command->add_option("--into", arguments->folder, "Folder of the parts")->required()->type_name("DIR");
  add_pack_marks(*command, arguments->output);
  add_report_format(*command, arguments->output.format);
  command->footer(
      "Example:\n"
      "  fourtune pack split all.pack --by device --into parts");
  command->callback([arguments] { split(*arguments); });
}

void add_pack_prune(CLI::App& pack) {
  auto arguments = std::make_shared<PruneArguments>();
  CLI::App* command = pack.add_subcommand("prune", "Make a smaller pack");
  command->add_option("PACK", arguments->pack, "The pack")->required()->type_name("FILE");
  add_pack_output(*command, arguments->output);
  command->add_option("--max-bytes", arguments->max_bytes, "Largest size of the file")
      ->check(between(std::int64_t{0}, std::int64_t{1} << 50))
      ->type_name("N");
  command->add_option("--older-than", arguments->older_than, "Drop winners that were chosen earlier")
      ->type_name("DAYS|YYYY-MM-DD");
  command->add_option("--gain-below", arguments->gain_below, "Drop winners that were not shown to gain this factor")
      ->check(between(0.0, 1e9))
      ->type_name("X");
  command->footer(
      "Example:\n"
      "  fourtune pack prune all.pack small.pack --gain-below 1.05 --max-bytes 1000000\n\n"
      "--max-bytes drops kernels first, then runners-up, then the winners with the least gain.");
  command->callback([arguments] { prune(*arguments); });
}

}  // namespace fourtune::tools
