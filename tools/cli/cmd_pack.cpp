// `fourtune pack`: makes, checks and changes the files in which tuned plans are shipped.
#include <CLI/CLI.hpp>

#include "tools/cli/commands.h"
#include "tools/cli/pack_commands.h"

namespace fourtune::tools {

void add_pack(CLI::App& app) {
  CLI::App* pack = app.add_subcommand("pack", "Make, check, merge, sign and embed packs of tuned plans");
  pack->require_subcommand(1);
  add_pack_build(*pack);
  add_pack_show(*pack);
  add_pack_verify(*pack);
  add_pack_diff(*pack);
  add_pack_merge(*pack);
  add_pack_split(*pack);
  add_pack_prune(*pack);
  add_pack_index(*pack);
  add_pack_embed(*pack);
  add_pack_keygen(*pack);
  pack->footer(
      "Example:\n"
      "  fourtune pack build plans.pack --licence CC0 --sign maker.secret\n"
      "  fourtune pack verify plans.pack --key maker.public\n\n"
      "`fourtune pack SUBCOMMAND --help` has an example for each.");
}

}  // namespace fourtune::tools
