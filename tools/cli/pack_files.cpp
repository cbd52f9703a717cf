#include "tools/cli/pack_files.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "db/pack_writer.h"
#include "db/signature.h"
#include "db/store_error.h"
#include "fourtune/fourtune.h"
#include "tools/common/errors.h"
#include "tools/common/say.h"
#include "tools/common/stop_on_signal.h"
#include "tools/common/text.h"
#include "tuner/report/report.h"

namespace fourtune::tools {
namespace {

constexpr std::size_t kLongestCell = 5000;  // bytes; a plan has at most 4096
std::string shown(const std::string& text) { return text::shown(text, kLongestCell); }

std::string hint_of(db::StoreFault fault) {
  switch (fault) {
    case db::StoreFault::foreign:
      return "`fourtune pack build OUT --from DATABASE` makes a pack of a tuning database";
    case db::StoreFault::newer:
      return "the Fourtune that made it, or a later one, reads it";
    case db::StoreFault::damaged:
    case db::StoreFault::hostile:
      return "get the file again; `sha256sum` tells whether the two copies are equal";
    default:
      return {};
  }
}

std::string count_text(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

void reading_pack(const std::function<void()>& read) try { read(); } catch (const db::StoreError& error) {
  throw Failure(error.what(), hint_of(error.fault()));
}

std::shared_ptr<const db::Pack> opened_pack(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw UsageError(fmt::format("{}: no such pack", path), "`fourtune pack build` makes one");
  std::shared_ptr<const db::Pack> pack;
  reading_pack([&] { pack = db::Pack::open(path); });
  return pack;
}

db::PackContents contents_of_pack(const std::string& path) {
  const auto pack = opened_pack(path);
  db::PackContents contents;
  reading_pack([&] {
    const db::PackCheck check = pack->check();
    if (!check.signature_fault.empty())
      throw Failure(fmt::format("{}: {}", path, check.signature_fault), "somebody changed it after it was signed");
    if (!check.is_complete)
      say("fourtune: note: {} is damaged: {} of its {} plans and {} kernels are right; the rest is left out\n",
          shown(path), check.plans, pack->size(), check.kernels);
    std::size_t damaged = 0;
    contents = pack->contents(damaged);
  });
  return contents;
}

void add_pack_marks(CLI::App& command, PackOutput& output) {
  command.add_option("--name", output.name, "Name of the pack (default: that of the inputs, else of the file)")
      ->type_name("TEXT");
  command.add_option("--pack-version", output.version, "Its version (default: that of the inputs, else 1)")
      ->type_name("TEXT");
  command.add_option("--licence", output.licence, "Licence under which others may use it")->type_name("TEXT");
  command.add_option("--sign", output.key_file, "Sign it with this secret key (`fourtune pack keygen`)")
      ->type_name("FILE");
  command.add_flag("--force", output.force, "Replace an existing pack");
}

void add_pack_output(CLI::App& command, PackOutput& output) {
  command.add_option("OUT", output.path, "The pack to write")->required()->type_name("FILE");
  add_pack_marks(command, output);
  add_report_format(command, output.format);
}

void add_report_format(CLI::App& command, std::string& format) {
  CLI::Option* const option = command.add_option("--format", format, "How to print")
                                  ->check(CLI::IsMember({"table", "json"}))
                                  ->capture_default_str();
  command
      .add_flag_callback(
          "--json", [&format] { format = "json"; }, "Short for --format json")
      ->excludes(option);
}

void require_free(const std::string& path, bool force) {
  std::error_code error;
  if (path.empty()) throw UsageError("the name of the file to write is empty");
  if (std::filesystem::is_directory(path, error)) throw UsageError(fmt::format("{}: is a folder", path));
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error)) && !force)
    throw UsageError(fmt::format("{}: exists", path), "--force replaces it");
}

void require_free(const PackOutput& output) {
  require_free(output.path, output.force);
  std::error_code error;
  // A slip in the order of the arguments must not cost a tuning database.
  if (std::filesystem::exists(output.path, error) && !db::is_pack(output.path))
    throw UsageError(fmt::format("{}: is not a pack", output.path), "--force replaces packs only; give another name");
}

std::string signing_key(const PackOutput& output) {
  if (output.key_file.empty()) return {};
  std::string key = db::read_key(output.key_file);
  try {
    db::public_key_of(key);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--sign {}: {}", output.key_file, error.what()));
  }
  return key;
}

void complete_manifest(db::PackManifest& manifest, const PackOutput& output) {
  const auto choose = [](std::string& value, const std::string& option, const std::string& otherwise) {
    if (!option.empty())
      value = option;
    else if (value.empty())
      value = otherwise;
  };
  choose(manifest.name, output.name, std::filesystem::path(output.path).stem().string());
  choose(manifest.version, output.version, "1");
  choose(manifest.licence, output.licence, "");
  manifest.program = std::string("fourtune ") + fourtune_version();
}

void write_whole_file(const std::string& path, std::span<const std::byte> bytes) {
  const StopOnSignal wait;
  db::write_file(path, bytes);
}

WrittenPack write_pack(db::PackContents contents, const PackOutput& output) {
  if (contents.plans.empty()) throw Failure(fmt::format("{}: no plan is left to write", output.path));
  complete_manifest(contents.manifest, output);
  WrittenPack written;
  written.path = output.path;
  written.manifest = contents.manifest;
  for (const db::PackPlan& plan : contents.plans) ++(plan.rank == 0 ? written.winners : written.runners_up);
  written.kernels = contents.kernels.size();
  const std::string key = signing_key(output);
  if (!key.empty()) written.signer = db::public_key_of(key);
  const auto bytes = db::pack_bytes(std::move(contents), key);
  written.bytes = bytes.size();
  write_whole_file(output.path, bytes);
  return written;
}

std::string csv_text(const std::vector<Cells>& rows) {
  std::string text;
  for (const Cells& cells : rows)
    for (std::size_t c = 0; c < cells.size(); ++c) {
      std::string cell = shown(cells[c]);
      if (cell.find_first_of(",\"") != std::string::npos) {
        std::string quoted = "\"";
        for (const char letter : cell) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
        cell = quoted + '"';
      }
      text += cell + (c + 1 < cells.size() ? ',' : '\n');
    }
  return text;
}

Json json_of(const WrittenPack& written) {
  return {{"pack", written.path},
          {"name", written.manifest.name},
          {"version", written.manifest.version},
          {"winners", written.winners},
          {"runners_up", written.runners_up},
          {"kernels", written.kernels},
          {"bytes", written.bytes},
          {"signer", written.signer.empty() ? Json() : Json(written.signer)}};
}

std::string text_of(const WrittenPack& written) {
  return fmt::format("{}: {} {}: {}, {}, {}, {}, {}\n", shown(written.path), shown(written.manifest.name),
                     shown(written.manifest.version), count_text(written.winners, "winner", "winners"),
                     count_text(written.runners_up, "runner-up", "runners-up"),
                     count_text(written.kernels, "kernel", "kernels"),
                     bytes_text(static_cast<std::int64_t>(written.bytes)),
                     written.signer.empty() ? std::string("not signed") : "signed by " + written.signer);
}

Json json_of(const db::PackPlan& plan) {
  const db::Verdict& v = plan.verdict;
  const bool compared = v.incumbent_ns > 0;
  return {{"problem", v.problem},
          {"rank", plan.rank},
          {"plan", v.plan},
          {"seconds", v.winner_ns * 1e-9},
          {"gain", compared ? Json(v.incumbent_ns / v.winner_ns) : Json()},
          {"gain_low", compared ? Json(v.ratio_low) : Json()},
          {"gain_high", compared ? Json(v.ratio_high) : Json()},
          {"rounds", v.rounds},
          {"objective", db::to_string(v.objective)},
          {"error", plan.error ? Json(*plan.error) : Json()},
          {"validity", v.validity},
          {"date", date_text(plan.created_ms)},
          {"backend", plan.environment.backend},
          {"device", plan.environment.device},
          {"isa", plan.environment.isa}};
}

std::string date_text(std::int64_t ms) {
  using namespace std::chrono;
  constexpr std::int64_t kMost = 253402300799000;  // the end of the year 9999
  const year_month_day date(floor<days>(sys_time<milliseconds>(milliseconds(std::clamp<std::int64_t>(ms, 0, kMost)))));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string gain_text(const db::PackPlan& plan) {
  return plan.verdict.incumbent_ns > 0 ? fmt::format("{:.2f}", plan.verdict.incumbent_ns / plan.verdict.winner_ns)
                                       : "-";
}

Json conflicts_json(const std::vector<db::MergeConflict>& conflicts) {
  Json list = Json::array();
  for (const db::MergeConflict& conflict : conflicts) {
    Json others = Json::array();
    for (const db::PackPlan& plan : conflict.others) others.push_back(json_of(plan));
    list.push_back({{"chosen", json_of(conflict.chosen)}, {"others", std::move(others)}});
  }
  return list;
}

void print_conflicts(const std::vector<db::MergeConflict>& conflicts) {
  if (conflicts.empty()) return;
  std::vector<Cells> rows{{"problem", "device", "", "time", "date", "plan"}};
  const auto add = [&](const db::PackPlan& plan, const char* what) {
    rows.push_back({plan.verdict.problem, plan.environment.device, what,
                    tuner::format_seconds(plan.verdict.winner_ns * 1e-9), date_text(plan.created_ms),
                    plan.verdict.plan});
  };
  for (const db::MergeConflict& conflict : conflicts) {
    add(conflict.chosen, "chosen");
    for (const db::PackPlan& plan : conflict.others) add(plan, "not chosen");
  }
  fmt::print("{} with different winners:\n{}", count_text(conflicts.size(), "problem", "problems"),
             tuner::table_text(rows, {{3}, 0, 5}, tuner::screen_of(stdout)));
}

void write_and_report(db::Merged merged, const PackOutput& output) {
  const WrittenPack written = write_pack(std::move(merged.contents), output);
  if (output.format == "json") {
    Json result = json_of(written);
    result["conflicts"] = conflicts_json(merged.conflicts);
    fmt::print("{}", json_text(result));
    return;
  }
  print_conflicts(merged.conflicts);
  fmt::print("{}", text_of(written));
}

}  // namespace fourtune::tools
