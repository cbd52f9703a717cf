// What the runtime reads: the verdicts of the user database, of further databases and of packs.
//
// Invariants
// 1. load() reads each database in one pass and closes it. Packs stay open, and what is asked for is read from them
//    (pack.h); they are never locked.
// 2. A file that cannot be used is skipped and reported in layers(); load() throws only when memory runs out.
// 3. An entry is what was written: it matches the checksum of its row (rows of versions 1 to 3 have none).
// 4. Layer 0 is the user database, followed by the others in the order given; a lower layer takes precedence.
// Immutable after load: any number of threads may read it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/pack.h"
#include "db/pack_index.h"
#include "db/records.h"

namespace fourtune::db {

struct LookupEntry {
  StoredVerdict verdict;  // never a withdrawn one
  std::string wisdom;     // from the plan's latest ok run in the verdict's environment; empty: none
  std::size_t layer = 0;  // index into layers()
  // The same entry, found twice.
  friend bool operator==(const LookupEntry& a, const LookupEntry& b) {
    return a.layer == b.layer && a.verdict.id == b.verdict.id;
  }
};
using FoundEntry = std::shared_ptr<const LookupEntry>;  // null: none; valid while the Lookup lives

// A pack or a database that nobody writes: a file, or, if it has bytes, these bytes of a pack.
struct PlanSource {
  std::filesystem::path path;  // of the bytes: the name by which messages call them
  std::span<const std::byte> bytes;
};

struct LayerReport {
  std::filesystem::path path;
  bool usable = false;  // if false, see reason; a missing user database is usable and empty
  std::size_t verdicts = 0;
  std::size_t damaged = 0;           // verdicts of a database that are not what was written; no entry is made of them
  std::string reason;                // why the layer was skipped
  std::shared_ptr<const Pack> pack;  // null: a database
};

class Lookup {
 public:
  using Accept = std::function<bool(const LookupEntry&)>;      // for example: its validity covers the actual m
  using Distance = std::function<double(const LookupEntry&)>;  // >= 0; infinity means that the entry cannot be used

  Lookup() = default;  // empty
  // An empty user path means that there is no user layer (layer 0 is then reported as usable and empty).
  static Lookup load(const std::filesystem::path& user, std::span<const PlanSource> others);
  static Lookup load(const std::filesystem::path& user, std::span<const std::filesystem::path> others = {});

  // Foreign entries are ignored, or they alone are looked at, if they are of the same backend.
  enum class Whose { ours, foreign };

  // The verdict to use for exactly this token, or null. Entries are ranked: first those that serve (freshness current
  // or serves), then candidates, then those of a kindred device, of which the one with the nearest traits goes first,
  // as among foreign ones; within these groups lower layer, then fresher, then later. Those that `accept` refuses are
  // ignored. `near` says where packs have the token, to whom it is known: others are not opened.
  FoundEntry winner(std::string_view token, const Environment& here, const Accept& accept = {},
                    Whose whose = Whose::ours, const Near& near = {}) const;
  // The entry with the least finite distance among all tokens of databases and those of packs that are near, or null.
  // Entries of kindred devices come after all others; ties are resolved as in winner().
  FoundEntry nearest(const Environment& here, const Distance& distance, const Near& near = {},
                     Whose whose = Whose::ours) const;
  // All entries of databases, sorted by token, then by layer, then latest first.
  std::span<const LookupEntry> entries() const noexcept { return entries_; }
  std::span<const LayerReport> layers() const noexcept { return layers_; }

 private:
  std::vector<LookupEntry> entries_;
  std::vector<LayerReport> layers_;
};

}  // namespace fourtune::db
