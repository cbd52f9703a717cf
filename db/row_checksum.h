// The content of a database row as one checksum. It includes the texts to which the row refers (problem, plan,
// environment), so that a bit flipped in any of them shows in every row that depends on it. It finds damage, not
// malice: whoever can write the file can write checksums.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "db/records.h"

namespace fourtune::db {

// Returns 64 hexadecimal digits (BLAKE2b of the pieces in a fixed order, numbers as their shortest texts).
std::string checksum_of(const Verdict& verdict, const Environment& environment, std::int64_t created_ms,
                        std::string_view withdrawn);
// samples and stages: the texts in their columns. run.samples_ns and run.stages are not used.
std::string checksum_of(const Run& run, const Environment& environment, std::string_view samples,
                        std::string_view stages);

}  // namespace fourtune::db
