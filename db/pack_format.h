// What the reader and the writer of packs have in common: keys of the manifest, digests and the signed message.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "db/pack_contents.h"

namespace fourtune::db {

// Rows of the table manifest.
using ManifestRows = std::map<std::string, std::string>;
// Digests and counts are added by the writer.
ManifestRows rows_of(const PackManifest& manifest);
// Throws StoreError{damaged} when a row that every pack has is missing, or one says what it cannot.
PackManifest manifest_of(const ManifestRows& rows);
inline constexpr const char* kBorrowings = "borrowings";  // only where there are some
inline constexpr const char* kPlansDigest = "plans_digest";
inline constexpr const char* kKernelsDigest = "kernels_digest";
inline constexpr const char* kPlanCount = "plan_count";
inline constexpr const char* kKernelCount = "kernel_count";

// What a signature is of.
std::string signed_message(const ManifestRows& rows);

// The digest of what the table `plan` says, by the checksums of its rows in order, and of the kernels, by their digests
// and checksums in order.
std::string plans_digest(const std::vector<std::int64_t>& checksums);
std::string kernels_digest(const std::vector<std::string>& digests_and_checksums);

// An empty pack of the least version that can say this.
Database empty_pack(const std::vector<PackPlan>& plans);
// Throws StoreError unless it is a pack of this version with exactly its tables.
void require_pack(const Database& database, const std::string& where);

}  // namespace fourtune::db
