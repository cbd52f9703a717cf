// `fourtune pack index`: the small file beside a pack that spares most processes opening it.
#include "db/pack_index.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "base/text.h"
#include "tools/cli/pack_commands.h"
#include "tools/cli/pack_files.h"
#include "tools/common/errors.h"

namespace fourtune::tools {
namespace {

struct IndexArguments {
  std::string pack, format = "table";
};

// Replaces an index that is there: it can be made again at any time.
void write_index(const IndexArguments& arguments) {
  const db::PackContents contents = contents_of_pack(arguments.pack);
  std::ifstream in(arguments.pack, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in || in.bad()) throw Failure(fmt::format("{}: cannot be read", arguments.pack));
  std::string text;
  reading_pack([&] { text = db::index_text(contents, std::as_bytes(std::span(file))); });
  const std::string path = db::index_path(arguments.pack).string();
  write_whole_file(path, std::as_bytes(std::span(text)));
  if (arguments.format == "json")
    fmt::print("{}", json_text({{"index", path}, {"bytes", text.size()}}));
  else
    fmt::print("{}: {} bytes\n", text::shown(path, 4096), text.size());
}

}  // namespace

void add_pack_index(CLI::App& pack) {
  auto arguments = std::make_shared<IndexArguments>();
  CLI::App* command = pack.add_subcommand(
      "index", "Write PACK.index, with which processes open a pack only where it has plans for them");
  command->add_option("PACK", arguments->pack, "The pack, of at most 1 MiB")->required()->type_name("FILE");
  add_report_format(*command, arguments->format);
  command->footer(
      "Example:\n"
      "  fourtune pack index plans.pack");
  command->callback([arguments] { write_index(*arguments); });
}

}  // namespace fourtune::tools
