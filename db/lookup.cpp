#include "db/lookup.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "db/queries.h"
#include "db/store_file.h"

namespace fourtune::db {
namespace {

namespace fs = std::filesystem;

// Ranks entries with equal claim: smaller is better. Later verdicts of one layer have larger ids.
auto rank(const LookupEntry& entry, Freshness fresh) {
  const bool first_candidate_only = fresh > Freshness::serves;
  return std::make_tuple(first_candidate_only, entry.layer, fresh, -static_cast<std::int64_t>(entry.verdict.id));
}

}  // namespace

Lookup Lookup::load(const fs::path& user, std::span<const fs::path> packs) {
  Lookup lookup;
  const auto add_layer = [&](const fs::path& path, OpenAs as) {
    LayerReport report;
    report.path = path;
    try {
      std::error_code ignored;
      if (as == OpenAs::shared && (path.empty() || fs::status(path, ignored).type() == fs::file_type::not_found)) {
        report.usable = true;  // nothing tuned yet, so SQLite need not be loaded
        lookup.layers_.push_back(std::move(report));
        return;
      }
      if (as == OpenAs::immutable && !fs::exists(path, ignored)) {
        throw StoreError(StoreFault::unreadable, "pack '" + path.string() + "' does not exist");
      }
      auto entries = read_lookup_entries(open_for_reading(path, as), report.damaged);
      for (LookupEntry& entry : entries) entry.layer = lookup.layers_.size();
      report.usable = true;
      report.verdicts = entries.size();
      lookup.entries_.insert(lookup.entries_.end(), std::make_move_iterator(entries.begin()),
                             std::make_move_iterator(entries.end()));
    } catch (const Error& error) {
      report.reason = error.what();
    }
    lookup.layers_.push_back(std::move(report));
  };
  add_layer(user, OpenAs::shared);
  for (const fs::path& pack : packs) add_layer(pack, OpenAs::immutable);
  // Each layer comes sorted by token, latest first; a stable sort keeps this order within a token.
  std::stable_sort(lookup.entries_.begin(), lookup.entries_.end(), [](const LookupEntry& a, const LookupEntry& b) {
    return std::tie(a.verdict.problem, a.layer) < std::tie(b.verdict.problem, b.layer);
  });
  return lookup;
}

const LookupEntry* Lookup::winner(std::string_view token, const Environment& here, const Accept& accept) const {
  struct ByToken {
    bool operator()(const LookupEntry& entry, std::string_view text) const { return entry.verdict.problem < text; }
    bool operator()(std::string_view text, const LookupEntry& entry) const { return text < entry.verdict.problem; }
  };
  const auto [begin, end] = std::equal_range(entries_.begin(), entries_.end(), token, ByToken());
  const LookupEntry* best = nullptr;
  for (auto entry = begin; entry != end; ++entry) {
    const Freshness fresh = freshness(entry->verdict.environment, here);
    if (fresh == Freshness::foreign || (accept && !accept(*entry))) continue;
    if (!best || rank(*entry, fresh) < rank(*best, freshness(best->verdict.environment, here))) best = &*entry;
  }
  return best;
}

const LookupEntry* Lookup::nearest(const Environment& here, const Distance& distance) const {
  const LookupEntry* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const LookupEntry& entry : entries_) {
    const Freshness fresh = freshness(entry.verdict.environment, here);
    if (fresh == Freshness::foreign) continue;
    const double d = distance(entry);
    if (std::isnan(d) || std::isinf(d) || d > least) continue;
    if (d < least || rank(entry, fresh) < rank(*best, freshness(best->verdict.environment, here))) {
      best = &entry;
      least = d;
    }
  }
  return best;
}

}  // namespace fourtune::db
