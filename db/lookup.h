// What the runtime reads: the verdicts of read-only packs and of the user database, in memory.
//
// Invariants
// 1. load() reads each file in one pass and closes it. Afterwards no file is open, no lock is held and nothing is
//    queried.
// 2. A file that cannot be used is skipped and reported in layers(); load() throws only when memory runs out.
// 3. An entry is what was written: it matches the checksum of its row (rows of versions 1 to 3 have none).
// 4. Layer 0 is the user database, followed by the packs in the order given; a lower layer takes precedence.
// Immutable after load: any number of threads may read it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.h"

namespace fourtune::db {

struct LookupEntry {
  StoredVerdict verdict;  // never a withdrawn one
  std::string wisdom;     // from the plan's latest ok run in the verdict's environment; empty: none
  std::size_t layer = 0;  // index into layers()
};

struct LayerReport {
  std::filesystem::path path;
  bool usable = false;  // if false, see reason; a missing user database is usable and empty
  std::size_t verdicts = 0;
  std::size_t damaged = 0;  // verdicts that are not what was written; the entries do not include them
  std::string reason;       // why the layer was skipped
};

class Lookup {
 public:
  using Accept = std::function<bool(const LookupEntry&)>;      // for example: its validity covers the actual m
  using Distance = std::function<double(const LookupEntry&)>;  // >= 0; infinity means that the entry cannot be used

  Lookup() = default;  // empty
  // An empty user path means that there is no user layer (layer 0 is then reported as usable and empty).
  static Lookup load(const std::filesystem::path& user, std::span<const std::filesystem::path> packs = {});

  // The verdict to use for exactly this token, or null. Entries are ranked: first those that serve (freshness current
  // or serves), then lower layer, then fresher, then later. Foreign entries, and those that `accept` refuses, are
  // ignored.
  const LookupEntry* winner(std::string_view token, const Environment& here, const Accept& accept = {}) const;
  // The entry with the least finite distance among all tokens, or null; ties are resolved as in winner(). Foreign
  // entries are ignored.
  const LookupEntry* nearest(const Environment& here, const Distance& distance) const;
  // All entries, sorted by token, then by layer, then latest first.
  std::span<const LookupEntry> entries() const noexcept { return entries_; }
  std::span<const LayerReport> layers() const noexcept { return layers_; }

 private:
  std::vector<LookupEntry> entries_;
  std::vector<LayerReport> layers_;
};

}  // namespace fourtune::db
