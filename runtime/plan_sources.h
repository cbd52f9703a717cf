// The databases and packs that a transform looks in, and whose kernels it may run.
//
// In this order, the first going first: the user's database; the options' packs in memory and databases, the last
// listed first; what FOURTUNE_PACKS lists (files and folders, separated by ':'); /etc/fourtune/packs; packs installed
// beside the library (share/fourtune/packs in the nearest of the three folders above its own, or
// FOURTUNE_SHIPPED_PACKS; empty: none). Of a folder: its files *.pack, by name. Options without default databases leave
// only what they list.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "db/lookup.h"
#include "fourtune/transform.h"

namespace fourtune::runtime {

// One for all transforms of the process with the same options, read again when a file has changed.
std::shared_ptr<const db::Lookup> shared_lookup(const Options& options);

// The files of the packs that come with the library.
std::vector<std::filesystem::path> shipped_packs();

// This database, or pack, in the place of the user's, and the packs of this machine.
db::Lookup lookup_beside(const std::filesystem::path& user);

// The packs of which kernels may run: those signed by a key of the options, of /etc/fourtune/keys or of
// $XDG_CONFIG_HOME/fourtune/keys (files *.public that nobody but the user and root can write), and those that are such
// files themselves (db/trusted_file.h). `why` gets a line for each pack whose kernels are not used.
std::vector<std::shared_ptr<const db::Pack>> packs_with_kernels(const db::Lookup& lookup, const Options& options,
                                                                std::string& why);

// One line for each database or pack that cannot be used; empty: all can.
std::string unusable_text(const db::Lookup& lookup);

}  // namespace fourtune::runtime
