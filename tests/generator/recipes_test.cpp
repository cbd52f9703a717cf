// Follows the recipes of docs/design/recipes.md for a window, a spreader and a planner in a copy of the files that they
// name: where a step is left out the compiler says so, and with all steps the files compile. When a step has to change,
// so has the page. tests/runtime/recipe_backend_test.cpp follows the recipe for a backend, and runs it.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;

std::string source(const std::string& file) { return read_text(fs::path(FOURTUNE_SOURCE_DIR) / file); }

// `text` after the only place that has `mark`.
std::string with_after(const std::string& text, const std::string& mark, const std::string& more) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos || text.find(mark, at + 1) != std::string::npos)
    throw std::runtime_error("not once in the file: " + mark);
  return text.substr(0, at + mark.size()) + more + text.substr(at + mark.size());
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

// Files of the tree, some of them changed or new, in a folder that the compiler sees before the tree.
class Copy {
 public:
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    write_text(folder_ / file, text);
  }
  Finished compile(const std::string& file) const {
    const std::string source = FOURTUNE_SOURCE_DIR;
    return run_program({"c++", "-std=c++20", "-fsyntax-only", "-Werror=switch", "-I" + folder_.path().string(),
                        "-I" + source, "-I" + source + "/include", folder_ / file},
                       {}, {{"LC_ALL", "C"}});
  }

 private:
  ScratchFolder folder_;
};

TEST(Recipes, AWindowIsAKindAndItsCaseInEachSwitchOfOneFile) {
  const std::string header = "generator/window/window.h", body = "generator/window/window.cpp";
  Copy copy;
  copy.write(header, with_after(source(header), "enum class WindowKind {\n", "  hann,\n"));
  copy.write(body, source(body));
  const Finished missing = copy.compile(body);
  EXPECT_NE(missing.code, 0);
  const std::string text = source(body);
  const int switches = count(text, "switch (");
  EXPECT_GE(switches, 3);
  EXPECT_EQ(count(missing.err, "'hann' not handled"), switches) << missing.err;
  copy.write(body, std::regex_replace(text, std::regex("case WindowKind::gaussian:"),
                                      "case WindowKind::hann:\n    case WindowKind::gaussian:"));
  const Finished whole = copy.compile(body);
  EXPECT_EQ(whole.code, 0) << whole.err;
}

TEST(Recipes, ASpreaderOfTheProcessorIsAFamilyAFileAndACall) {
  const std::string plan = "generator/plan/plan.h", engine = "runtime/backends/cpu/gridder/engine.h",
                    body = "runtime/backends/cpu/gridder/gridder.cpp",
                    own = "runtime/backends/cpu/gridder/spread_twice.cpp";
  Copy copy;
  copy.write(plan, with_after(source(plan), "enum class SpreadFamily {\n", "  twice,\n"));
  copy.write(engine, source(engine));
  copy.write(body, source(body));
  const Finished missing = copy.compile(body);
  EXPECT_NE(missing.code, 0);
  EXPECT_NE(missing.err.find("'twice' not handled"), std::string::npos) << missing.err;
  const std::string text = source(engine), like = "void spread_atomic(Engine<T>& engine, const Batch<T>& batch);\n";
  copy.write(engine, with_after(text, like, "template <class T>\nvoid spread_twice(Engine<T>&, const Batch<T>&);\n"));
  copy.write(body, with_after(source(body), "switch (family_now_) {\n",
                              "      case SpreadFamily::twice:\n        spread_twice(e_, batch);\n        break;\n"));
  copy.write(own,
             "#include \"runtime/backends/cpu/gridder/engine.h\"\n"
             "namespace fourtune::runtime::cpu {\n"
             "template <class T>\nvoid spread_twice(Engine<T>& engine, const Batch<T>& batch) {\n"
             "  for (int time = 0; time < 2; ++time) spread_atomic(engine, batch);\n}\n"
             "template void spread_twice(Engine<float>&, const Batch<float>&);\n"
             "template void spread_twice(Engine<double>&, const Batch<double>&);\n"
             "}\n");
  for (const std::string& file : {body, own}) {
    const Finished whole = copy.compile(file);
    EXPECT_EQ(whole.code, 0) << whole.err;
  }
}

TEST(Recipes, APlannerIsFiveFunctionsAndALineInTheTable) {
  const std::string table = "generator/candidates.cpp", header = "generator/planner/sums/planner.h",
                    own = "generator/planner/sums/planner.cpp";
  const auto planner = [](const std::string& functions) {
    return "#include \"generator/planner/sums/planner.h\"\n"
           "namespace fourtune::generator {\nnamespace {\n"
           "Space listed(const Problem&, const DeviceTraits& traits) { return {{}, {{plan_for(traits.backend), {}, 1}}}; }\n"
           "Plan usual(const Problem&, const DeviceTraits& traits, std::string*) { return plan_for(traits.backend); }\n"
           "Plan adapted(const Plan& plan, const Problem&, const DeviceTraits&) { return plan; }\n"
           "Cost cost(const Plan&, const Problem&, const DeviceTraits&) { return {1, 0, 0}; }\n"
           "double least(const Plan&, const Problem&, const DeviceTraits&) { return 0; }\n}\n"
           "const Planner sums_planner{" +
           functions + "};\n}\n";
  };
  Copy copy;
  copy.write(header,
             "#include \"generator/planner/planner.h\"\n"
             "namespace fourtune::generator { extern const Planner sums_planner; }\n");
  const std::string with_include = with_after(source(table), "#include \"generator/planner/gpu_nufft/planner.h\"\n",
                                              "#include \"generator/planner/sums/planner.h\"\n");
  copy.write(table, with_after(with_include, "kPlanners[] = {", "{false, Kind::fft, sums_planner}, "));
  copy.write(own, planner("listed, usual, adapted, cost, least"));
  for (const std::string& file : {table, own}) {
    const Finished whole = copy.compile(file);
    EXPECT_EQ(whole.code, 0) << whole.err;
  }
  copy.write(own, planner("listed, usual, cost, least, adapted"));
  EXPECT_NE(copy.compile(own).code, 0) << "functions in another order are taken";
}

// Each link of the page is a file, and has every name in code that the page says is there: "`kBackends` in
// [file](path)".
TEST(Recipes, FilesHaveWhatThePageSaysOfThem) {
  const std::string page = source("docs/design/recipes.md");
  const std::regex link(R"(`([A-Za-z_:]+)` (?:in|to|of)\s+\[[^\]]+\]\(\.\./\.\./([^)#]+)\))");
  int seen = 0;
  for (std::sregex_iterator one(page.begin(), page.end(), link), end; one != end; ++one, ++seen) {
    std::string name = (*one)[1];
    name = name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
    EXPECT_NE(source((*one)[2]).find(name), std::string::npos) << name << " is not in " << (*one)[2];
  }
  EXPECT_GE(seen, 8);
}

}  // namespace
}  // namespace fourtune::test
