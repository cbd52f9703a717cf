// Joins tuning databases: shards, one for each process or host that tuned, become one database.
//
// Invariants
//   1. The result does not depend on the order of the inputs: a new file has the same bytes for any order.
//   2. Rows are added, never changed; what the output has already stays. A row is known by everything that it says, so
//      that merging a second time adds nothing. Only a session's end and a verdict's withdrawal are carried over to a
//      row that lacks them.
//   3. All is one transaction: a killed merge leaves the output as it was.
// Compiled kernels are not joined: they are machine code, and a shard may come from somebody else.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "db/damage.h"
#include "db/pack_edit.h"
#include "db/records.h"

namespace fourtune::db {

// Everything that a database says, of one moment, also while it is being written. Rows that are not what was written
// are left out and counted.
struct StoreContents {
  std::vector<StoredSession> sessions;
  std::vector<StoredRun> runs;          // each belongs to one of the sessions
  std::vector<StoredVerdict> verdicts;  // likewise; in the order in which they were drawn
  Damage damage;
};
// A missing file is an empty database. Throws StoreError.
StoreContents contents_of_store(const std::filesystem::path& path);

struct MergedStores {
  std::size_t sessions = 0, runs = 0, verdicts = 0;  // that the output did not have
  std::vector<MergeConflict> conflicts;              // sorted by problem; other winners than the chosen one
};
// Writes to `out`, which is made if it is missing. Where inputs (and `out`) have different winners for one problem in
// one environment, the policy decides as it does for packs; a verdict that another input went on from is no candidate.
// MergePolicy::first depends on the order and is refused: Error{invalid_option}. Throws StoreError.
MergedStores merge_stores(const std::filesystem::path& out, std::span<const StoreContents> inputs,
                          MergePolicy policy = MergePolicy::newest);

}  // namespace fourtune::db
