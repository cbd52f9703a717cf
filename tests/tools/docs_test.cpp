// The documentation is true: its commands run, its code is that of the examples, its links exist.
//
// Bash runs every block that starts with ```sh, line by line with -e, in a scratch folder with the project's build,
// tools, headers and examples, with `fourtune` on the path and an empty tuning database. If a block cannot be run here,
// the line before it says why: <!-- not run: REASON -->. Other kinds of blocks are not commands. What it tunes on the
// processor is judged by CPU time: on a busy machine a user sees exit code 75 and no winner, and the block would end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fourtune/fourtune.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = FOURTUNE_SOURCE_DIR;

struct Block {
  std::string page;  // "docs/cli.md"
  int line = 0;      // line of the opening fence
  std::string language;
  std::string text;
  std::string not_run;  // the reason
  std::string whole;    // the file of which the block is all
};

std::vector<std::string> pages() {
  std::vector<std::string> names{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") names.push_back(fs::relative(entry.path(), kRoot).generic_string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Block> blocks_of(const std::string& page) {
  static const std::regex reason("<!-- not run: (.+) -->"), whole("<!-- the whole of (\\S+) -->");
  std::vector<Block> blocks;
  std::istringstream text(read_text(kRoot / page));
  std::string line, before;
  bool inside = false;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) {
        std::smatch match;
        const bool excused = std::regex_match(before, match, reason);
        blocks.push_back({page, number, line.substr(3), "", excused ? match[1].str() : "", ""});
        if (std::regex_match(before, match, whole)) blocks.back().whole = match[1].str();
      }
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
    if (!line.empty()) before = line;
  }
  return blocks;
}

std::vector<Block> blocks_in(const std::string& language) {
  std::vector<Block> found;
  for (const std::string& page : pages())
    for (Block& block : blocks_of(page))
      if (block.language == language) found.push_back(std::move(block));
  return found;
}

std::vector<Block> commands_to_run() {
  std::vector<Block> blocks = blocks_in("sh");
  std::erase_if(blocks, [](const Block& block) { return !block.not_run.empty(); });
  return blocks;
}

std::string block_name(const testing::TestParamInfo<Block>& info) {
  std::string name = info.param.page + "Line" + std::to_string(info.param.line);
  std::erase_if(name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; });
  return name;
}

void PrintTo(const Block& block, std::ostream* out) { *out << block.page << ":" << block.line; }

class Commands : public testing::TestWithParam<Block> {};

TEST_P(Commands, Run) {
  const Block& block = GetParam();
  const ScratchFolder folder;
  for (const char* name : {"tools", "examples", "docs", "include"})
    fs::create_directory_symlink(kRoot / name, folder / name);
  fs::create_directory_symlink(FOURTUNE_BUILD_DIR, folder / "build");
  write_text(folder / "commands.sh", "set -euo pipefail\n" + block.text);
  fs::create_directory_symlink(FOURTUNE_BUILD_DIR "/lib", folder / "lib");  // beside bin, as in the build
  fs::create_directory(folder / "bin");
  write_text(folder / "bin/fourtune",
             "#!/bin/sh\n"
             "case \" $* \" in\n"
             "\" tune \"*\" --backend \"*) ;;\n"
             "\" tune \"*\" --threads \"*) set -- \"$@\" --cpu-time ;;\n"
             "\" tune \"*) set -- \"$@\" --threads 1 --cpu-time ;;\n"
             "esac\n"
             "exec '" +
                 fourtune_program() + "' \"$@\"\n");
  fs::permissions(folder / "bin/fourtune", fs::perms::owner_all);
  const char* path = std::getenv("PATH");
  if (path == nullptr) path = "/usr/bin:/bin";
  const Finished result = run_program({"bash", "commands.sh"}, folder.path(),
                                      {{"PATH", (folder / "bin").string() + ":" FOURTUNE_BUILD_DIR "/bin:" + path},
                                       {"FOURTUNE_DB", (folder / "tuning.db").string()}});
  EXPECT_EQ(result.code, 0) << block.page << ":" << block.line << "\n" << block.text << result.out << result.err;
}

INSTANTIATE_TEST_SUITE_P(Docs, Commands, testing::ValuesIn(commands_to_run()), block_name);

TEST(Docs, SayWhyACommandIsNotRun) {
  for (const Block& block : blocks_in("sh"))
    if (!block.not_run.empty()) {
      EXPECT_GT(block.not_run.size(), 10u) << block.page << ":" << block.line;
    }
  for (const char* language : {"bash", "shell", "console"})
    for (const Block& block : blocks_in(language))
      ADD_FAILURE() << block.page << ":" << block.line << ": commands stand in sh blocks, so that they are run";
}

// Expects every line of the code in the example, in the same order. Code that needs other projects says so.
void expect_excerpt(const Block& block, const std::string& example) {
  if (!block.not_run.empty() || !block.whole.empty()) return;
  const std::string whole = read_text(kRoot / example);
  std::istringstream text(block.text);
  std::size_t at = 0;
  for (std::string line; std::getline(text, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    line.erase(0, first);
    const auto found = whole.find(line, at);
    EXPECT_NE(found, std::string::npos) << block.page << ":" << block.line << ": " << example << " has no\n" << line;
    if (found != std::string::npos) at = found + line.size();
  }
}

TEST(Docs, CodeIsThatOfTheExamples) {
  const auto c = blocks_in("c"), cpp = blocks_in("cpp");
  EXPECT_FALSE(c.empty());
  EXPECT_FALSE(cpp.empty());
  for (const Block& block : c) expect_excerpt(block, "examples/quickstart.c");
  for (const Block& block : cpp) expect_excerpt(block, "examples/quickstart.cpp");
}

// Who came for a transform in a language has a page with a program to copy, which the build compiles.
TEST(Docs, EveryLanguageHasAPageWithAWholeProgram) {
  std::vector<std::string> seen;
  for (const std::string language : {"c", "cpp"})
    for (const Block& block : blocks_in(language))
      if (!block.whole.empty()) {
        EXPECT_EQ(block.text, read_text(kRoot / block.whole)) << block.page << ":" << block.line;
        seen.push_back(block.page + " " + block.whole);
      }
  EXPECT_EQ(seen, (std::vector<std::string>{"docs/c.md examples/quickstart.c", "docs/cpp.md examples/quickstart.cpp",
                                            "docs/cuda.md examples/quickstart_cuda.cpp"}));
}

TEST(Docs, TheFigureOfTheReadmeIsDrawnFromTheMeasurements) {
  if (!has_program("gnuplot") || !has_program("python3")) GTEST_SKIP() << "no gnuplot or no Python 3";
  const ScratchFolder folder;
  const Finished done = run_program({(kRoot / "tools/draw_speed").string(), folder.path().string()});
  EXPECT_EQ(done.code, 0) << done.err;
  // README has figures for light and dark pages, and the page of each device has one.
  std::vector<std::pair<std::string, std::string>> shown{{"README.md", "=\"docs/figures/speed.png\""},
                                                         {"README.md", "=\"docs/figures/speed-dark.png\""}};
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/measurements"))
    if (const fs::path page = entry.path().filename(); page.extension() == ".md" && page != "README.md")
      shown.emplace_back("docs/measurements/" + page.string(), "](../figures/speed-" + page.stem().string() + ".png)");
  EXPECT_GE(shown.size(), 6u);
  for (const auto& [page, link] : shown) {
    EXPECT_NE(read_text(kRoot / page).find(link), std::string::npos) << page << " has no " << link;
    const auto at = link.find("speed");
    const std::string name = link.substr(at, link.find(".png") + 4 - at);
    EXPECT_EQ(read_text(folder / name).substr(1, 3), "PNG") << name;
    EXPECT_TRUE(fs::exists(kRoot / "docs/figures" / name)) << name;
  }
  EXPECT_NE(read_text(folder / "speed.png"), read_text(folder / "speed-dark.png"));
}

// The version of CMakeLists.txt, which the library reports, is that of README and of the newest release in CHANGELOG.
TEST(Docs, NameTheVersionOfTheLibrary) {
  const std::string version = fourtune_version();
  EXPECT_NE(read_text(kRoot / "README.md").find("\nVersion " + version + ". "), std::string::npos) << version;
  const std::string changes = read_text(kRoot / "CHANGELOG.md");
  std::smatch release;
  ASSERT_TRUE(
      std::regex_search(changes, release, std::regex("\n## \\[([0-9.]+)\\] - 20[0-9]{2}-[01][0-9]-[0-3][0-9]\n")));
  EXPECT_EQ(release[1], version);
}

// But for those of developers: faults that tests ask for, and templates that are read when a program starts.
TEST(Docs, TheCommandLinesPageNamesEveryEnvironmentVariable) {
  const std::string page = read_text(kRoot / "docs/cli.md");
  constexpr std::string_view start = "\"FOURTUNE_";
  int seen = 0;
  for (const char* folder : {"base", "db", "dropin", "generator", "runtime", "tools", "tuner"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      const std::string text = read_text(entry.path());
      for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        const std::string name = text.substr(at + 1, text.find('"', at + 1) - at - 1);
        if (name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
          continue;  // a message
        ++seen;
        if (name.starts_with("FOURTUNE_TEST_") || name == "FOURTUNE_TEMPLATES" || name.ends_with("_H")) continue;
        EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << entry.path() << " reads " << name;
      }
    }
  EXPECT_GT(seen, 20);
}

// What users met, and the tests that do what they did: each named test is there.
TEST(Docs, TestsThatThePageOfFirstUseNamesAreThere) {
  std::string tests;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests"))
    if (entry.path().extension() == ".cpp" || entry.path().filename() == "CMakeLists.txt")
      tests += read_text(entry.path());
  const std::string page = read_text(kRoot / "docs/design/first-ten-minutes.md");
  static const std::regex name("`(\\w+)\\.([A-Z]\\w+|\\*)`");
  int seen = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), name), end; at != end; ++at, ++seen) {
    const std::string suite = (*at)[1].str(), one = (*at)[2].str();
    // TEST(Suite, Name), or in CMake add_test(NAME suite.Name
    const bool all = one == "*";
    EXPECT_TRUE(tests.find("(" + suite + ", " + (all ? "" : one + ")")) != std::string::npos ||
                tests.find("NAME " + suite + "." + (all ? "" : one)) != std::string::npos)
        << suite << "." << one;
  }
  EXPECT_GT(seen, 20);
}

TEST(Docs, TheIndexNamesEveryPage) {
  const std::string index = read_text(kRoot / "docs/README.md");
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".md" && name != "README.md") {
      EXPECT_NE(index.find("](" + name), std::string::npos) << name;
    }
  }
}

TEST(Docs, TheIndexOfMeasurementsNamesEveryTable) {
  const std::string index = read_text(kRoot / "docs/measurements/README.md");
  int tables = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/measurements"))
    if (const std::string name = entry.path().filename().string(); name.ends_with(".csv")) {
      ++tables;
      EXPECT_NE(index.find("](" + name + ")"), std::string::npos) << name;
    }
  EXPECT_GT(tables, 10);
}

// What links to the headings of a page name, as code forges make it from their words.
std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> all;
  std::istringstream lines(read_text(page));
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    if (code || !line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find(' ') + 1)) {
      const auto letter = static_cast<unsigned char>(c);
      if (letter >= 0x80 || std::isalnum(letter) || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(letter));
      if (c == ' ') anchor += '-';
    }
    all.insert(anchor);
  }
  return all;
}

TEST(Docs, LinksLeadSomewhere) {
  static const std::regex link("\\]\\(([^)#:]*)(#([^)]*))?\\)");
  int seen = 0, anchors = 0;
  for (const std::string& page : pages()) {
    const std::string text = read_text(kRoot / page);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at, ++seen) {
      const std::string name = (*at)[1], anchor = (*at)[3];
      const fs::path target = name.empty() ? kRoot / page : (kRoot / page).parent_path() / name;
      EXPECT_TRUE(fs::exists(target)) << page << " links " << name;
      if (anchor.empty() || target.extension() != ".md" || !fs::exists(target)) continue;
      EXPECT_TRUE(anchors_of(target).contains(anchor)) << page << " links " << name << '#' << anchor;
      ++anchors;
    }
  }
  EXPECT_GT(seen, 3);
  EXPECT_GT(anchors, 3);
}

}  // namespace
}  // namespace fourtune::test
