// What a pack holds, as plain records: a manifest, tuned plans with their evidence, compiled kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/borrowing.h"
#include "db/kernel_store.h"
#include "db/records.h"

namespace fourtune::db {

struct PackManifest {
  std::string name, version, licence;   // as the maker names them; name without blanks or slashes
  std::string program;                  // that made it, with its version
  std::string plan_language;            // Environment::generator of every plan
  std::vector<std::string> sources;     // what it was made from, one line each, sorted
  std::vector<Borrowing> borrowings{};  // what its plans lose where they are borrowed, as far as that was measured
  friend bool operator==(const PackManifest&, const PackManifest&) = default;
};

// One plan with its evidence. The verdict's `replaces` is not kept.
struct PackPlan {
  Verdict verdict;
  Environment environment;
  int rank = 0;                 // 0: the winner, 1: the first runner-up
  std::optional<double> error;  // relative l2, the worst of its runs; absent when not measured
  std::int64_t created_ms = 0;  // of the verdict, since the epoch, UTC
  std::string wisdom;           // FFTW's, for plans that use it
  // Which problems may borrow the plan: those of the same kin whose size differs little (runtime/neighbour.h).
  std::string kin;
  double size = 0;
  friend bool operator==(const PackPlan&, const PackPlan&) = default;
};

using PackKernel = NamedKernel;

struct PackContents {
  PackManifest manifest;
  std::vector<PackPlan> plans;
  std::vector<PackKernel> kernels;
  friend bool operator==(const PackContents&, const PackContents&) = default;
};

// The number with which a plan's row is checked: the first 64 bits of BLAKE2b of everything that it says. (64 bits find
// damage; what must withstand malice is signed and hashed in full.)
std::int64_t pack_checksum(const PackPlan& plan);
// The number under which the plans of a token are found.
std::int64_t token_hash(std::string_view token);
// A kernel's checksum: SHA-256 of digest and image, 64 hexadecimal digits.
std::string kernel_checksum(const std::string& digest, std::span<const std::byte> image);

// zstd, as the database and packs store images and texts.
std::vector<std::byte> compress(std::span<const std::byte> bytes);
// Returns nothing when the result is not `bytes` long or `bytes` is above kMaxImage.
std::optional<std::vector<std::byte>> decompress(std::span<const std::byte> packed, std::int64_t bytes);

}  // namespace fourtune::db
