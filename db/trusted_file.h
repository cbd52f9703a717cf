// Which files machine code may be loaded from.
//
// The rule, as ssh has it for keys: the file and the folder that holds it belong to the user or to root and nobody else
// can write them, and so it is for every folder above, but that a folder above may be sticky (/tmp). The folder itself
// may not: whoever can write there can lay a journal beside the file, which SQLite would roll back into it. Symbolic
// links are followed first, and what they lead to is judged; open what real_path gives, which nobody else can exchange.
// (A pack that is signed by a trusted key may join here; there are none yet.)
#pragma once

#include <filesystem>
#include <string>

namespace fourtune::db {

// Why the file's machine code must not run here: says whose or what mode, and what would be right. Empty: it may. A
// file that is not there has no fault when its folders have none. Journals beside the file are judged like it. Threads:
// any. Never throws but for lack of memory.
std::string why_untrusted(const std::filesystem::path& path);

// The path without symbolic links, of a file that need not be there yet; the path itself when it cannot be found out.
std::filesystem::path real_path(const std::filesystem::path& path);

}  // namespace fourtune::db
