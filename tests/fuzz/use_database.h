// Everything that a program does with a database that somebody else may have written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "db/records.h"

namespace fourtune::fuzz {

// Tokens of small problems for trials of create. The targets' databases were tuned for the first ones.
const std::vector<std::string>& small_problems();
// The environment of this machine's processor, so that the rows of the targets' databases apply.
const db::Environment& environment_here();

// Opens the file as readers do, reads all of it, shows it, and uses it to resolve and create a small problem that
// `seed` selects. Ends the process when an exception other than Error is thrown, or when a reader changes the file.
void use_database(const std::filesystem::path& path, std::size_t seed);

}  // namespace fourtune::fuzz
