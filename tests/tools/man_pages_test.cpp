// Manual pages, made of --help by tools/man_pages.
#include <filesystem>
#include <regex>

#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

TEST_F(CommandLine, ManualPagesNameEverySubcommandAndOption) {
  const std::string share = (folder / "share").string();
  const Finished made =
      run_program({std::string(FOURTUNE_SOURCE_DIR) + "/tools/man_pages", fourtune_program(), share}, folder.path());
  ASSERT_EQ(made.code, 0) << made.err;
  const auto page = [&](const std::string& name) { return read_text(share + "/man/man1/" + name + ".1"); };
  for (const std::string command : {"tune", "show", "run", "doctor", "bench", "pack build", "pack show"}) {
    std::vector<std::string> words{fourtune_program()};
    std::string name = "fourtune";
    for (std::size_t at = 0; at < command.size();) {
      const std::size_t end = std::min(command.find(' ', at), command.size());
      words.push_back(command.substr(at, end - at));
      name += "-" + words.back();
      at = end + 1;
    }
    words.emplace_back("--help");
    const std::string help = run_program(words).out, text = page(name);
    EXPECT_EQ(text.rfind(".TH FOURTUNE", 0), 0u) << text;
    for (const char* section : {".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n", ".SH EXAMPLES\n"})
      EXPECT_NE(text.find(section), std::string::npos) << name << section;
    const std::regex option("\n  (--[a-z-]+)");
    for (std::sregex_iterator one(help.begin(), help.end(), option), end; one != end; ++one) {
      const std::string shown = std::regex_replace((*one)[1].str(), std::regex("-"), "\\-");
      EXPECT_NE(text.find("\n.B " + shown), std::string::npos) << name << " lacks " << shown;
    }
    // Requests are ours only; no word of the help became one.
    const std::regex request("\n\\.(?!SH |TP\n|B |PP\n|nf\n|fi\n)");
    EXPECT_FALSE(std::regex_search(text, request)) << text;
    if (has_program("groff")) {
      const Finished set = run_program({"groff", "-man", "-ww", "-Tascii", share + "/man/man1/" + name + ".1"});
      EXPECT_EQ(set.err, "");
    }
  }
  EXPECT_NE(page("fourtune").find(".SH SUBCOMMANDS\n.TP\n.B tune\n"), std::string::npos);
  for (const char* file : {"bash-completion/completions/fourtune", "zsh/site-functions/_fourtune",
                           "fish/vendor_completions.d/fourtune.fish"})
    EXPECT_FALSE(read_text(share + "/" + file).empty()) << file;
}

}  // namespace
}  // namespace fourtune::test
