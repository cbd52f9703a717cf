// Decides from which files machine code may be loaded.
//
// The rule is that of ssh for keys: the file and its folder belong to the user or to root, and nobody else can write
// them. The same holds for every folder above, except that a folder above may be sticky (/tmp). The file's folder may
// not: whoever can write there can place a journal next to the file, which SQLite would roll back into it. Symbolic
// links are followed first, and their target is checked; open the path that real_path returns, which nobody else can
// exchange. (Packs signed by a trusted key may be added here; there are none yet.)
#pragma once

#include <filesystem>
#include <string>

namespace fourtune::db {

// Why the file's machine code must not run here, naming the owner or mode at fault and what would be right; empty when
// it may run. A missing file has no fault when its folders have none. Journals next to the file are checked like the
// file. May be called from any thread. Throws only when memory runs out.
std::string why_untrusted(const std::filesystem::path& path);

// The path without symbolic links, for a file that need not exist yet; the path itself when it cannot be resolved.
std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace fourtune::db
