#include "db/lookup.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "db/queries.h"
#include "db/store_file.h"

namespace fourtune::db {
namespace {

namespace fs = std::filesystem;

// Orders entries with equal claim: smaller is better. Later verdicts of one layer have larger ids.
using Rank = std::tuple<int, double, std::size_t, Freshness, std::int64_t>;
Rank rank(const LookupEntry& entry, const Environment& here) {
  const Environment& measured = entry.verdict.environment;
  const Freshness fresh = freshness(measured, here);
  const bool another = fresh >= Freshness::kindred;
  const int group = fresh <= Freshness::serves ? 0 : another ? 2 : 1;
  return {group, another ? traits_distance(measured.traits, here.traits) : 0.0, entry.layer, fresh,
          -static_cast<std::int64_t>(entry.verdict.id)};
}

bool is_looked_at(const LookupEntry& entry, const Environment& here, Lookup::Whose whose) {
  const bool foreign = freshness(entry.verdict.environment, here) == Freshness::foreign;
  return whose == Lookup::Whose::ours ? !foreign : foreign && entry.verdict.environment.backend == here.backend;
}

// Whether it is worth opening the pack.
bool may_have(const Pack& pack, const Near& near, const Environment& here, Lookup::Whose whose) {
  return pack.may_have(near, [&](const Environment& measured) {
    const bool foreign = freshness(measured, here) == Freshness::foreign;
    return measured.backend == here.backend && foreign == (whose == Lookup::Whose::foreign);
  });
}

// A plan of a pack as an entry. Ids are those of rows, so that runners-up, which are later rows, rank lower.
LookupEntry entry_of(const Pack::Row& row, std::size_t layer) {
  LookupEntry entry;
  static_cast<Verdict&>(entry.verdict) = row.plan.verdict;
  entry.verdict.id = VerdictId{-row.id};
  entry.verdict.created_ms = row.plan.created_ms;
  entry.verdict.environment = row.plan.environment;
  entry.wisdom = row.plan.wisdom;
  entry.layer = layer;
  return entry;
}

// Points to an entry that somebody else owns.
FoundEntry borrowed(const LookupEntry& entry) { return {FoundEntry(), &entry}; }

void add_database(const fs::path& path, OpenAs as, LayerReport& report, std::vector<LookupEntry>& all,
                  std::size_t layer) {
  std::error_code ignored;
  if (as == OpenAs::shared && (path.empty() || fs::status(path, ignored).type() == fs::file_type::not_found)) {
    report.usable = true;  // nothing tuned yet, so SQLite need not be loaded
    return;
  }
  if (as == OpenAs::immutable && !fs::exists(path, ignored))
    throw StoreError(StoreFault::unreadable, "pack '" + path.string() + "' does not exist");
  // SQLite would take it for a database without tables.
  if (as == OpenAs::immutable && fs::file_size(path, ignored) == 0)
    throw StoreError(StoreFault::damaged, "pack '" + path.string() + "' is empty; get it again");
  auto entries = read_lookup_entries(open_for_reading(path, as), report.damaged);
  for (LookupEntry& entry : entries) entry.layer = layer;
  report.usable = true;
  report.verdicts = entries.size();
  all.insert(all.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
}

}  // namespace

Lookup Lookup::load(const fs::path& user, std::span<const fs::path> others) {
  std::vector<PlanSource> sources;
  for (const fs::path& path : others) sources.push_back({path, {}});
  return load(user, sources);
}

Lookup Lookup::load(const fs::path& user, std::span<const PlanSource> others) {
  Lookup lookup;
  const auto add_layer = [&](const fs::path& path, const auto& fill) {
    LayerReport report;
    report.path = path;
    try {
      fill(report);
    } catch (const Error& error) {
      report.reason = error.what();
    }
    lookup.layers_.push_back(std::move(report));
  };
  add_layer(user, [&](LayerReport& report) { add_database(user, OpenAs::shared, report, lookup.entries_, 0); });
  for (const PlanSource& source : others)
    add_layer(source.path, [&](LayerReport& report) {
      auto index = source.bytes.empty() ? index_beside(source.path) : std::nullopt;
      if (!index && source.bytes.empty() && !is_pack(source.path)) {
        add_database(source.path, OpenAs::immutable, report, lookup.entries_, lookup.layers_.size());
        return;
      }
      report.pack = index                  ? Pack::later(source.path, std::move(*index))
                    : source.bytes.empty() ? Pack::open(source.path)
                                           : Pack::of_bytes(source.bytes, source.path.string());
      report.usable = true;
      report.verdicts = report.pack->size();
    });
  // Each layer comes sorted by token, latest first; a stable sort keeps this order within a token.
  std::stable_sort(lookup.entries_.begin(), lookup.entries_.end(), [](const LookupEntry& a, const LookupEntry& b) {
    return std::tie(a.verdict.problem, a.layer) < std::tie(b.verdict.problem, b.layer);
  });
  return lookup;
}

FoundEntry Lookup::winner(std::string_view token, const Environment& here, const Accept& accept, Whose whose,
                          const Near& near) const {
  FoundEntry best;
  std::optional<Rank> least;
  // `keep` makes a pointer of the entry if it is the best so far.
  const auto consider = [&](const LookupEntry& entry, const auto& keep) {
    if (!is_looked_at(entry, here, whose)) return;
    const Rank its = rank(entry, here);
    if ((accept && !accept(entry)) || (least && !(its < *least))) return;
    best = keep();
    least = its;
  };
  const auto first =
      std::lower_bound(entries_.begin(), entries_.end(), token,
                       [](const LookupEntry& entry, std::string_view t) { return entry.verdict.problem < t; });
  for (auto entry = first; entry != entries_.end() && entry->verdict.problem == token; ++entry)
    consider(*entry, [&] { return borrowed(*entry); });
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (!layers_[layer].pack || !may_have(*layers_[layer].pack, near, here, whose)) continue;
    std::size_t damaged = 0;
    for (const Pack::Row& row : layers_[layer].pack->plans_of(token, damaged)) {
      const FoundEntry entry = std::make_shared<const LookupEntry>(entry_of(row, layer));
      consider(*entry, [&] { return FoundEntry(entry); });
    }
  }
  return best;
}

FoundEntry Lookup::nearest(const Environment& here, const Distance& distance, const Near& near, Whose whose) const {
  FoundEntry best;
  // Entries of kindred devices come last, whatever their distance.
  using Claim = std::tuple<bool, double, Rank>;
  std::optional<Claim> least;
  const auto consider = [&](const LookupEntry& entry, const auto& keep) {
    if (!is_looked_at(entry, here, whose)) return;
    const Rank its = rank(entry, here);
    const double d = distance(entry);
    if (!std::isfinite(d)) return;
    const Claim claim{std::get<Freshness>(its) == Freshness::kindred, d, its};
    if (least && !(claim < *least)) return;
    best = keep();
    least = claim;
  };
  for (const LookupEntry& entry : entries_) consider(entry, [&] { return borrowed(entry); });
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (!layers_[layer].pack || !may_have(*layers_[layer].pack, near, here, whose)) continue;
    layers_[layer].pack->visit_near(near.kin, near.size, near.reach, [&](const Pack::Row& row) {
      const FoundEntry entry = std::make_shared<const LookupEntry>(entry_of(row, layer));
      consider(*entry, [&] { return FoundEntry(entry); });
      return least && !std::get<bool>(*least) ? std::get<double>(*least) : near.reach;
    });
  }
  return best;
}

}  // namespace fourtune::db
