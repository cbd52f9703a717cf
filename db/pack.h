// Reads a pack (pack_schema.sql), from a file or from memory.
//
// Invariants
//   1. Opening reads the manifest and the environments only; plans and kernels are read when they are asked for. So a
//      pack of 100 000 plans costs what one of ten costs, and the file must stay as it is while it is open.
//   2. A plan that is returned is what was written: it matches the checksum of its row. Others are passed over.
//   3. kernel() returns only what matches its checksum and, where the pack is trusted by its signature, what was
//      signed.
// A pack may be used by any number of threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/pack_contents.h"
#include "db/pack_index.h"

namespace fourtune::db {

inline constexpr std::int64_t kPackApplicationId = 0x4654504b;  // "FTPK"
// Version 2 has plans that won by something else than their time. A pack without one is of version 1, byte by byte.
inline constexpr std::int64_t kPackVersion = 2;

struct PackCheck {
  std::size_t plans = 0, kernels = 0;  // that are what was written
  std::size_t damaged = 0;             // plans and kernels that are not
  bool is_complete = false;            // the contents are those that the manifest names
  std::string signer;                  // bare public key whose signature is right; empty: not signed
  std::string signature_fault;         // a signature that is wrong; empty: right, or not signed
};

class Pack {
 public:
  // Throw StoreError for a file that is no pack, is newer, damaged or not readable. The bytes must outlive the pack;
  // `name` stands for them in messages.
  static std::shared_ptr<const Pack> open(const std::filesystem::path& path);
  static std::shared_ptr<const Pack> of_bytes(std::span<const std::byte> bytes, std::string name);
  // A file that is opened when something is asked for that its index does not say. If it cannot be opened then, it has
  // nothing.
  static std::shared_ptr<const Pack> later(const std::filesystem::path& path, PackIndex index);
  Pack(const Pack&) = delete;
  Pack& operator=(const Pack&) = delete;
  ~Pack();

  const std::string& name() const noexcept;
  const std::string& version() const noexcept;
  const PackManifest& manifest() const noexcept;
  const std::string& where() const noexcept;  // path, or name of the bytes
  std::size_t size() const noexcept;          // number of plans, by the manifest

  // Whether plans may be near, of a device for which is_ours(environment) too; always so without an index.
  bool may_have(const Near& near, const std::function<bool(const Environment&)>& is_ours) const;

  struct Row {
    std::int64_t id = 0;  // of this plan in this pack
    PackPlan plan;
  };
  // The plans for exactly this token; `damaged` is increased by those that are not what was written.
  std::vector<Row> plans_of(std::string_view token, std::size_t& damaged) const;
  // Visits plans of this kin in the order of the difference in size, until it exceeds what `visit` returns; starts with
  // `reach`. Looks at no more than kMostNeighbours.
  static constexpr int kMostNeighbours = 256;
  void visit_near(std::string_view kin, double size, double reach,
                  const std::function<double(const Row&)>& visit) const;

  // Whether its machine code may run: it is signed by one of these keys (texts of public keys), or it is a file that
  // nobody but the user and root can write. Otherwise why not, and what would be right; empty: it may.
  std::string why_kernels_not_trusted(std::span<const std::string> keys) const;
  bool has_kernels() const noexcept;
  std::optional<StoredKernel> kernel(const std::string& digest) const;

  // Reads everything.
  PackCheck check() const;
  // Everything that is what was written; the rest is counted in `damaged`.
  PackContents contents(std::size_t& damaged) const;

 private:
  struct Impl;
  explicit Pack(std::unique_ptr<Impl> impl);
  Pack(const std::filesystem::path& path, PackIndex index);
  // Opens the file now, if that was not done; null if it cannot be opened. The caller holds the lock.
  Impl* opened() const noexcept;
  static std::unique_ptr<Impl> open_file(const std::filesystem::path& path);

  const std::optional<PackIndex> index_;
  const std::filesystem::path path_;  // of a pack with an index
  const std::string where_;
  mutable bool tried_ = false;
  mutable std::unique_ptr<Impl> impl_;
};

// Whether the file says of itself that it is a pack; false for anything else, also for what cannot be read.
bool is_pack(const std::filesystem::path& path);

}  // namespace fourtune::db
