// The index of a pack: a small text file beside it, NAME.pack.index, that tells for which devices and which kinds of
// problems the pack has plans, so that most processes need not open the pack, which takes SQLite, zstd and libsodium
// (docs/design/packs.md). Without an index, or with one that is not of exactly this file, packs are opened as ever.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "db/pack_contents.h"

namespace fourtune::db {

// Where in a pack the neighbours of a problem are: plans of this kin whose size differs by at most `reach`, measured on
// a device that `devices` accepts. The distance of an entry is at least the difference in size.
struct Near {
  std::string kin;  // empty: any
  double size = 0;
  double reach = 0;
  std::function<bool(const Environment&)> devices{};  // empty: all
};

struct PackIndex {
  struct Place {  // of one or more plans
    std::size_t environment = 0;
    double size = 0;
    std::string kin;
    friend bool operator==(const Place&, const Place&) = default;
    friend bool operator<(const Place& a, const Place& b) {
      return std::tie(a.environment, a.size, a.kin) < std::tie(b.environment, b.size, b.kin);
    }
  };
  std::string name, version;
  std::size_t plans = 0, kernels = 0;
  std::vector<Environment> environments;
  std::vector<Place> places;

  // Whether a plan may be near, of a device for which is_ours(environment) too.
  bool may_have(const Near& near, const std::function<bool(const Environment&)>& is_ours) const;
};

// Packs above so many bytes have no index: all bytes are read to see that the index is theirs.
inline constexpr std::size_t kMostIndexedBytes = std::size_t{1} << 20;

std::filesystem::path index_path(const std::filesystem::path& pack);
// The index of the pack whose file has these bytes. Throws StoreError{unreadable} if there are too many, or a text of
// the pack has a line break.
std::string index_text(const PackContents& contents, std::span<const std::byte> file);
// None unless the text is an index of a file of these bytes.
std::optional<PackIndex> parse_index(std::string_view text, std::span<const std::byte> file);
// The index that lies beside a pack; none if there is none, or it is another file's.
std::optional<PackIndex> index_beside(const std::filesystem::path& pack);

}  // namespace fourtune::db
