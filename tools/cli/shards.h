// How one campaign is divided: each process or host tunes a share of the problems into a separate database, a shard,
// and `fourtune merge` joins them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "db/merge_stores.h"
#include "fourtune/problem.h"

namespace fourtune::tools {

struct Shard {
  int index = 0, count = 0;  // the second of four: 2, 4
};

// "2/4". Throws UsageError.
Shard shard_from(const std::string& text);

// The shard's share of a campaign's problems. Shares depend on which problems there are, not on their order, so every
// host finds the same ones; they differ in number by one at most, and problems of a kind are spread over them.
std::vector<Problem> share_of(const std::vector<Problem>& problems, const Shard& shard);

// "my.db" becomes "my.shard-2-of-4.db".
std::filesystem::path shard_path(const std::filesystem::path& database, const Shard& shard);

// Gives a shard what the database knows: winners to start from, plans that need not be measured again.
void begin_shard(const std::filesystem::path& shard, const std::filesystem::path& database);

// Adds to the database what the shards have. Throws as db::merge_stores does; notes on stderr say what could not be
// read of a shard.
db::MergedStores join_shards(const std::filesystem::path& database, const std::vector<std::filesystem::path>& shards,
                             db::MergePolicy policy = db::MergePolicy::newest);

}  // namespace fourtune::tools
