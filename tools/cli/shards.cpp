#include "tools/cli/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "db/digest.h"
#include "db/pack.h"
#include "tools/common/errors.h"
#include "tools/common/say.h"

namespace fourtune::tools {
namespace {

constexpr int kMostShards = 10000;

db::StoreContents contents_of_shard(const std::filesystem::path& path) {
  if (db::is_pack(path))
    throw UsageError(fmt::format("{}: is a pack, not a tuning database", path.string()),
                     "`fourtune pack merge` joins packs");
  db::StoreContents contents = db::contents_of_store(path);
  if (contents.damage.any())
    say("fourtune: note: {}: {}; they are left out\n", text::shown(path.string(), 4096), contents.damage.text());
  return contents;
}

}  // namespace

Shard shard_from(const std::string& text) {
  const auto parts = text::split(text, '/');
  const auto number = [&](std::size_t part) {
    return parts.size() == 2 ? text::number<int>(parts[part]).value_or(0) : 0;
  };
  const Shard shard{number(0), number(1)};
  if (shard.index < 1 || shard.count < shard.index || shard.count > kMostShards)
    throw UsageError(fmt::format("--shard {}: is not a share such as 1/4", text::shown(text)),
                     fmt::format("1/4, 2/4, 3/4 and 4/4 are the four shards of a campaign; at most {}", kMostShards));
  return shard;
}

std::vector<Problem> share_of(const std::vector<Problem>& problems, const Shard& shard) {
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < problems.size(); ++i) order.emplace_back(db::sha256(to_token(problems[i])), i);
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> mine;
  for (std::size_t place = 0; place < order.size(); ++place)
    if (static_cast<int>(place % static_cast<std::size_t>(shard.count)) == shard.index - 1)
      mine.push_back(order[place].second);
  std::sort(mine.begin(), mine.end());  // in the order in which they were named
  std::vector<Problem> share;
  share.reserve(mine.size());
  for (const std::size_t i : mine) share.push_back(problems[i]);
  return share;
}

std::filesystem::path shard_path(const std::filesystem::path& database, const Shard& shard) {
  std::filesystem::path path = database;
  path.replace_filename(fmt::format("{}.shard-{}-of-{}{}", database.stem().string(), shard.index, shard.count,
                                    database.extension().string()));
  return path;
}

void begin_shard(const std::filesystem::path& shard, const std::filesystem::path& database) {
  const db::StoreContents known[] = {db::contents_of_store(database)};
  db::merge_stores(shard, known);
}

db::MergedStores join_shards(const std::filesystem::path& database, const std::vector<std::filesystem::path>& shards,
                             db::MergePolicy policy) {
  std::vector<db::StoreContents> inputs;
  for (const std::filesystem::path& shard : shards) {
    std::error_code error;
    if (!std::filesystem::exists(shard, error))
      throw UsageError(fmt::format("{}: no such database", shard.string()),
                       "`fourtune tune --shard 1/2 --db OUT` makes shards, as OUT.shard-1-of-2.db");
    if (std::filesystem::equivalent(shard, database, error))
      throw UsageError(fmt::format("{}: is the output and an input", shard.string()),
                       "the output is named first, and keeps what it has");
    inputs.push_back(contents_of_shard(shard));
  }
  return db::merge_stores(database, inputs, policy);
}

}  // namespace fourtune::tools
