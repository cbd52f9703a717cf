// Writes a pack.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "db/pack_contents.h"

namespace fourtune::db {

// The bytes of a pack with these contents, signed with the secret key (signature.h) unless it is empty. The order of
// plans and kernels does not matter: the same contents give the same bytes, on any machine with the same zstd. Throws
// Error{invalid_argument} for contents that no pack has: two plans of one rank for one problem in one environment,
// plans of several plan languages, numbers that no tuning measures, a name with blanks or slashes.
std::vector<std::byte> pack_bytes(PackContents contents, std::string_view secret_key = {});

// Writes the file beside its place and renames it, so that a reader sees the old file or the new one, whole. Throws
// Error{io}.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace fourtune::db
