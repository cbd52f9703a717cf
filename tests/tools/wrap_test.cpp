// tools/wrap: words of comments that are too long go to the next line, and paragraphs of Markdown are filled anew;
// everything else stays.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

class Wrap : public testing::Test {
 protected:
  // The text after tools/wrap, of a file with this ending.
  std::string wrapped(const std::string& text, const std::string& name = "file.cpp") {
    write_text(folder_ / name, text);
    const Finished done = run_program({FOURTUNE_SOURCE_DIR "/tools/wrap", folder_ / name});
    EXPECT_EQ(done.code, 0) << done.err;
    return read_text(folder_ / name);
  }
  int check(const std::string& text, const std::string& name = "file.cpp") {
    write_text(folder_ / name, text);
    return run_program({FOURTUNE_SOURCE_DIR "/tools/wrap", "--check", folder_ / name}).code;
  }
  ScratchFolder folder_;
};

const std::string kWords = "// " + std::string(100, 'a') + " bbbbbbbb cccccc";  // 119 columns

TEST_F(Wrap, WordsGoToTheNextLineOfTheSameComment) {
  EXPECT_EQ(wrapped(kWords + " dddd\n// eeee\nint x;\n"), kWords + "\n// dddd eeee\nint x;\n");
  EXPECT_EQ(wrapped(kWords + " dddd\nint x;\n"), kWords + "\n// dddd\nint x;\n");
  EXPECT_EQ(wrapped(kWords + " dddd\n//\n// eeee\n"), kWords + "\n// dddd\n//\n// eeee\n");
  EXPECT_NE(wrapped("  " + kWords + "\n// eeee\n").find("  // cccccc\n// eeee\n"), std::string::npos)
      << "another indentation is another comment";
}

TEST_F(Wrap, ItemsOfListsKeepTheirPlaces) {
  const std::string item = "// 1. " + std::string(100, 'a') + " bbbbbbb cccc";  // 119 columns
  EXPECT_EQ(wrapped(item + " ddd\n//    eeee\n// 2. f\n"), item + "\n//    ddd eeee\n// 2. f\n");
  EXPECT_EQ(wrapped(item + " ddd\n// 2. f\n"), item + "\n//    ddd\n// 2. f\n");
  const std::string row = "// word  " + std::string(100, 'a') + " bbb cccc";  // 118 columns
  EXPECT_EQ(wrapped(row + " ddd\n//       eeee\n"), row + "\n//       ddd eeee\n") << "a row of two columns";
}

TEST_F(Wrap, CommentsBehindCodeGoBelowThemselves) {
  const std::string line = "int x = 1;  // " + std::string(100, 'a') + " bbbb";  // 120 columns
  EXPECT_EQ(wrapped(line + " c\n"), line + "\n            // c\n");
}

TEST_F(Wrap, CodeAndTextsStay) {
  for (const std::string& text :
       {"const char* x = \"// " + std::string(140, 'a') + " b\";\n", "int " + std::string(140, 'x') + " = 1;\n",
        "// " + std::string(140, 'a') + "\n", kWords + "\n// eeee\n", std::string("no end of line")})
    EXPECT_EQ(wrapped(text), text);
  EXPECT_EQ(wrapped(kWords + " dddd\n", "file.txt"), kWords + " dddd\n") << "no source";
  EXPECT_EQ(wrapped("#" + kWords.substr(2) + "  dddd\n", "file.cmake"), "#" + kWords.substr(2) + "\n# dddd\n");
}

const std::string kProse = std::string(100, 'a') + " bbbbbbbbbbbb cccccc";  // 120 columns

TEST_F(Wrap, ParagraphsOfMarkdownAreFilledAnew) {
  EXPECT_EQ(wrapped(kProse + " dddd\neeee\nffff\n\ngggg\n", "page.md"), kProse + "\ndddd eeee ffff\n\ngggg\n");
  EXPECT_EQ(wrapped(kProse + " dddd\n\neeee\nffff\n", "page.md"), kProse + "\ndddd\n\neeee\nffff\n")
      << "the second paragraph was short enough";
  const std::string item = "- " + kProse.substr(2);
  EXPECT_EQ(wrapped(item + " dddd\n  eeee\n- ffff\n1. " + kProse + "\n", "page.md"),
            item + "\n  dddd eeee\n- ffff\n1. " + kProse.substr(0, 113) + "\n   cccccc\n");
}

TEST_F(Wrap, MarkdownThatIsNoProseStays) {
  for (const std::string& text :
       {"| " + kProse + " | d |\n", "```\n" + kProse + " d\n```\n", "    " + kProse + "\n", "## " + kProse + "\n",
        "<!-- not run: " + kProse + " -->\n", "[name]: " + kProse + "\n", std::string(140, 'a') + "\n"})
    EXPECT_EQ(wrapped(text, "page.md"), text);
  // Neither inside code nor where the next line would begin an item.
  EXPECT_EQ(wrapped(kProse.substr(0, 113) + " `d e f g`\n", "page.md"), kProse.substr(0, 113) + "\n`d e f g`\n");
  EXPECT_EQ(wrapped(kProse + " - d 1. e\n", "page.md"), kProse.substr(0, 113) + "\ncccccc - d 1. e\n");
}

TEST_F(Wrap, CheckFindsLongLinesOfMarkdownThatCanBreak) {
  EXPECT_EQ(check(kProse + " d\n", "page.md"), 1);
  EXPECT_EQ(read_text(folder_ / "page.md"), kProse + " d\n");
  EXPECT_EQ(check(kProse + "\nd\n[" + std::string(130, 'a') + "](b)\n", "page.md"), 0);
}

TEST_F(Wrap, CheckOnlySaysWhatIsTooLong) {
  EXPECT_EQ(check(kWords + " dddd\n"), 1);
  EXPECT_EQ(read_text(folder_ / "file.cpp"), kWords + " dddd\n");
  EXPECT_EQ(check(kWords + "\n"), 0);
}

}  // namespace
}  // namespace fourtune::test
