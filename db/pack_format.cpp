#include "db/pack_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "db/digest.h"
#include "db/limits.h"
#include "db/pack.h"
#include "schema_text.h"

namespace fourtune::db {
namespace {

std::string digest_of(std::string_view kind, const std::vector<std::string>& texts) {
  std::vector<std::string_view> parts{kind};
  parts.insert(parts.end(), texts.begin(), texts.end());
  return blake2b(parts);
}

// Everything in a database except SQLite's own objects, by type, name and text.
std::set<std::string> objects_of(const Database& database) {
  std::set<std::string> objects;
  Statement rows = database.prepare("SELECT type, name, sql FROM sqlite_schema");
  while (rows.step())
    objects.insert(fmt::format("{} {} {}", rows.text(0, kMaxText), rows.text(1, kMaxText), rows.text(2, kMaxText)));
  return objects;
}

}  // namespace

ManifestRows rows_of(const PackManifest& manifest) {
  ManifestRows rows{{"name", manifest.name},
                    {"version", manifest.version},
                    {"licence", manifest.licence},
                    {"program", manifest.program},
                    {"plan_language", manifest.plan_language},
                    {"sources", fmt::format("{}", fmt::join(manifest.sources, "\n"))}};
  std::vector<std::string> lines;
  for (const Borrowing& one : manifest.borrowings) lines.push_back(to_text(one));
  if (!lines.empty()) rows[kBorrowings] = fmt::format("{}", fmt::join(lines, "\n"));
  return rows;
}

PackManifest manifest_of(const ManifestRows& rows) {
  const auto value = [&](const char* key) {
    const auto found = rows.find(key);
    if (found == rows.end())
      throw StoreError(StoreFault::damaged, fmt::format("the pack's manifest does not say its {}", key));
    return found->second;
  };
  PackManifest manifest{
      value("name"), value("version"), value("licence"), value("program"), value("plan_language"), {}, {}};
  const std::string sources = value("sources");
  for (const std::string_view source : text::split(sources, '\n'))
    if (!source.empty()) manifest.sources.emplace_back(source);
  const auto borrowings = rows.find(kBorrowings);
  if (borrowings == rows.end()) return manifest;
  for (const std::string_view line : text::split(borrowings->second, '\n')) try {
      manifest.borrowings.push_back(parse_borrowing(line));
    } catch (const Error& error) {
      throw StoreError(StoreFault::damaged, std::string("the pack's manifest, borrowings: ") + error.what());
    }
  return manifest;
}

std::string signed_message(const ManifestRows& rows) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : rows) texts.insert(texts.end(), {key, value});
  return "fourtune pack 1 " + digest_of("manifest", texts);
}

std::string plans_digest(const std::vector<std::int64_t>& checksums) {
  std::vector<std::string> texts;
  texts.reserve(checksums.size());
  for (const std::int64_t checksum : checksums) texts.push_back(std::to_string(checksum));
  return digest_of("plans", texts);
}

std::string kernels_digest(const std::vector<std::string>& digests_and_checksums) {
  return digest_of("kernels", digests_and_checksums);
}

Database empty_pack(const std::vector<PackPlan>& plans) {
  const bool of_time = std::all_of(plans.begin(), plans.end(),
                                   [](const PackPlan& plan) { return plan.verdict.objective == Objective::time; });
  Database database = Database::in_memory();
  database.execute("PRAGMA page_size = 1024");
  database.execute(kPackSchemaText);
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kPackApplicationId,
                               of_time ? 1 : kPackVersion)
                       .c_str());
  return database;
}

void require_pack(const Database& database, const std::string& where) {
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version > kPackVersion)
    throw StoreError(StoreFault::newer,
                     fmt::format("pack '{}' has version {}, this build knows {}; use a newer Fourtune",
                                 text::shown(where), version, kPackVersion));
  static const std::set<std::string> expected = objects_of(empty_pack({}));
  const std::set<std::string> found = objects_of(database);
  for (const std::string& object : found)
    if (!expected.contains(object))
      throw StoreError(StoreFault::hostile, fmt::format("pack '{}' has something that packs have not: {}",
                                                        text::shown(where), text::shown(object)));
  if (version < 1 || found.size() != expected.size())
    throw StoreError(StoreFault::damaged, fmt::format("pack '{}' lacks tables of a pack", text::shown(where)));
}

}  // namespace fourtune::db
