// What the subcommands of `fourtune pack` have in common: packs as arguments, packs as results, and plans as rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "db/pack.h"
#include "db/pack_edit.h"
#include "tools/common/output.h"
#include "tuner/report/table.h"

namespace CLI {
class App;
}

namespace fourtune::tools {

// Runs `read` and turns what is wrong with the file into a Failure whose hint suits packs.
void reading_pack(const std::function<void()>& read);
// Throws UsageError when there is no file of this name, Failure when it cannot be used.
std::shared_ptr<const db::Pack> opened_pack(const std::string& path);
// Everything in the pack that is what was written; a note on stderr says that there is more. A signature that is wrong
// is refused: nothing that somebody changed goes into another pack.
db::PackContents contents_of_pack(const std::string& path);

// Where a result goes and what it says of itself.
struct PackOutput {
  std::string path;
  std::string name, version, licence;  // empty: those of the contents
  std::string key_file;                // of a secret key; empty: not signed
  bool force = false;
  std::string format = "table";
};
// Declares OUT and the other options.
void add_pack_output(CLI::App& command, PackOutput& output);
// --name, --pack-version, --licence, --sign and --force.
void add_pack_marks(CLI::App& command, PackOutput& output);
void add_report_format(CLI::App& command, std::string& format);

// Throws UsageError when the path is taken, unless --force is given and it is a pack. To be called before the work.
void require_free(const PackOutput& output);
// The same for any other kind of file.
void require_free(const std::string& path, bool force);
// The secret key, or empty.
std::string signing_key(const PackOutput& output);
// Fills in what the manifest does not say yet.
void complete_manifest(db::PackManifest& manifest, const PackOutput& output);

struct WrittenPack {
  std::string path;
  db::PackManifest manifest;
  std::size_t winners = 0, runners_up = 0, kernels = 0, bytes = 0;
  std::string signer;  // empty: not signed
};
// Completes the manifest and writes the file, whole or not at all. Throws Failure for a pack without plans.
WrittenPack write_pack(db::PackContents contents, const PackOutput& output);
// Signals wait until the file is written.
void write_whole_file(const std::string& path, std::span<const std::byte> bytes);

// ---- printing; texts of packs are made safe for terminals
using Json = nlohmann::ordered_json;
using tuner::Cells;
std::string csv_text(const std::vector<Cells>& rows);
Json json_of(const WrittenPack& written);
std::string text_of(const WrittenPack& written);
Json json_of(const db::PackPlan& plan);
// "2026-11-23", UTC.
std::string date_text(std::int64_t ms);
// "1.25", or "-" where there was nothing to compare with.
std::string gain_text(const db::PackPlan& plan);
// Problems of which the inputs of a merge have different winners, and which one stays.
Json conflicts_json(const std::vector<db::MergeConflict>& conflicts);
void print_conflicts(const std::vector<db::MergeConflict>& conflicts);
// Writes what was merged, and prints what was written and how conflicts were decided.
void write_and_report(db::Merged merged, const PackOutput& output);

}  // namespace fourtune::tools
