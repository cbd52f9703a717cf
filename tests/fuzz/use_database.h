// Everything a program does with a database that somebody else may have written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "db/records.h"

namespace fourtune::fuzz {

// Tokens of small problems that a create is tried on; the first are those that the targets' databases were tuned for.
const std::vector<std::string>& small_problems();
// Of this machine's processor, so that the rows of the targets' databases count.
const db::Environment& environment_here();

// Opens the file as readers do, reads all of it, shows it, and resolves and creates with it a small problem that `seed`
// picks. Ends the process when something other than an Error comes out, or a reader changes the file.
void use_database(const std::filesystem::path& path, std::size_t seed);

}  // namespace fourtune::fuzz
