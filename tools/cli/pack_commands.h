// The subcommands of `fourtune pack`, in pack_*.cpp.
#pragma once

namespace CLI {
class App;
}

namespace fourtune::tools {

void add_pack_build(CLI::App& pack);
void add_pack_show(CLI::App& pack);
void add_pack_verify(CLI::App& pack);
void add_pack_diff(CLI::App& pack);
void add_pack_merge(CLI::App& pack);
void add_pack_split(CLI::App& pack);
void add_pack_prune(CLI::App& pack);
void add_pack_embed(CLI::App& pack);
void add_pack_index(CLI::App& pack);
void add_pack_keygen(CLI::App& pack);

}  // namespace fourtune::tools
