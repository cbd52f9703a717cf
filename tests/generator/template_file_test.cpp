// Where CUDA text comes from in builds that read it when a program starts.
#include "generator/codegen/template_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

using generator::template_file;

class TemplateFile : public testing::Test {
 protected:
  TemplateFile() {
    ::unsetenv("FOURTUNE_TEMPLATES");
    write_text(folder / "a.cuh", "the usual\n");
    std::filesystem::create_directory(folder / "chosen");
    write_text(folder / "chosen/a.cuh", "\n  the chosen one, ) and \" too");
  }
  ~TemplateFile() override { ::unsetenv("FOURTUNE_TEMPLATES"); }
  std::string read(const std::string& name) { return template_file(folder.path(), name); }

  ScratchFolder folder;
};

TEST_F(TemplateFile, IsOfTheSourcesUnlessAnotherFolderIsNamed) {
  EXPECT_EQ(read("a.cuh"), "the usual\n");
  ::setenv("FOURTUNE_TEMPLATES", "", 1);
  EXPECT_EQ(read("a.cuh"), "the usual\n");
  ::setenv("FOURTUNE_TEMPLATES", (folder / "chosen").c_str(), 1);
  EXPECT_EQ(read("a.cuh"), "\n  the chosen one, ) and \" too");
}

TEST_F(TemplateFile, ThatIsMissingIsNamed) {
  ::setenv("FOURTUNE_TEMPLATES", (folder / "chosen").c_str(), 1);
  try {
    read("b.cuh");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find((folder / "chosen/b.cuh").string()), std::string::npos) << text;
    EXPECT_NE(text.find("FOURTUNE_TEMPLATES"), std::string::npos) << text;
  }
}

TEST_F(TemplateFile, HasTheTextThatOtherBuildsHaveInside) {
  int templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FOURTUNE_SOURCE_DIR "/templates")) {
    const std::string name = entry.path().filename().string(), stem = entry.path().stem().string();
    const std::string header = read_text(FOURTUNE_BUILD_DIR "/generator/generated/" + stem + "_text.h");
    EXPECT_NE(header.find("(" + template_file(entry.path().parent_path(), name) + ")"), std::string::npos) << name;
    ++templates;
  }
  EXPECT_GT(templates, 30);
}

}  // namespace
}  // namespace fourtune::test
