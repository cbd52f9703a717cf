// Follows the recipes of docs/design/recipes.md for a window, spreaders of the processor and of GPUs, an FFT of the
// processor, and a planner in a copy of the files that they name: where a step is left out the compiler says so, and
// with all steps the files compile. When a step has to change, so has the page. tests/runtime/recipe_backend_test.cpp
// follows the recipe for a backend, and runs it.
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

// Files of the tree, some of them changed or new, in a folder that the compiler sees before the tree.
class Copy {
 public:
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    write_text(folder_ / file, text);
  }
  // As one file for the compiler, which reads the headers once.
  Finished compile(const std::vector<std::string>& files) {
    std::string all;
    for (const std::string& file : files) all += "#include \"" + file + "\"\n";
    write("all.cpp", all);
    const std::string source = FOURTUNE_SOURCE_DIR, build = FOURTUNE_BUILD_DIR;
    return run_program(
        {"c++", "-std=c++20", "-fsyntax-only", "-Werror=switch", "-I" + folder_.path().string(), "-I" + source,
         "-I" + source + "/include", "-I" + build + "/generator/generated", folder_ / "all.cpp"},
        {}, {{"LC_ALL", "C"}});
  }

 private:
  ScratchFolder folder_;
};

TEST(Recipes, AWindowIsAFileAndALineInTheTable) {
  const std::string header = "generator/window/window.h", formulas = "generator/window/formula.h",
                    table = "generator/window/window.cpp", own = "generator/window/hann.cpp";
  Copy copy;
  copy.write(header, with_after(source(header), "enum class WindowKind {\n", "  hann,\n"));
  const Finished missing = copy.compile({table});
  EXPECT_NE(missing.code, 0);
  EXPECT_NE(missing.err.find("each WindowKind has a line"), std::string::npos) << missing.err;
  copy.write(formulas, with_after(source(formulas), "extern const WindowFormula ", "hann_formula, "));
  copy.write(table, with_after(source(table), "kWindows[] = {", "&hann_formula, "));
  copy.write(own,
             "#include <cmath>\n"
             "#include \"generator/window/formula.h\"\n"
             "namespace fourtune::generator {\nnamespace {\n"
             "double shape(double, double) { return 1; }\n"
             "void evaluate(double, const std::vector<double>&, const double* x, long count, double* out) {\n"
             "  for (long i = 0; i < count; ++i) out[i] = (1 + std::cos(std::numbers::pi * x[i])) / 2;\n}\n"
             "int quadrature_size(int width, double) { return 20 + width; }\n}\n"
             "const WindowFormula hann_formula{.name = \"hann\", .shape = shape, .evaluate = evaluate,\n"
             "                                 .quadrature_size = quadrature_size};\n}\n");
  // Nothing else names each window: what reads and writes plans, and what chooses widths, takes the table.
  const Finished whole = copy.compile({table, own, "generator/window/width.cpp", "generator/plan/plan_text.cpp"});
  EXPECT_EQ(whole.code, 0) << whole.err;
}

TEST(Recipes, ASpreaderOfTheProcessorIsAFileALineInTheTableAndACall) {
  const std::string plan = "generator/plan/plan.h", engine = "runtime/backends/cpu/gridder/engine.h",
                    body = "runtime/backends/cpu/gridder/gridder.cpp",
                    own = "runtime/backends/cpu/gridder/spread_twice.cpp";
  Copy copy;
  const std::string with_family = with_after(source(plan), "enum class SpreadFamily {\n", "  twice,\n");
  copy.write(plan, with_family);
  const Finished missing = copy.compile({plan});
  EXPECT_NE(missing.code, 0);
  EXPECT_NE(missing.err.find("each SpreadFamily has a line"), std::string::npos) << missing.err;
  copy.write(plan, with_after(with_family, "kSpreaders[] = {\n", "    {\"twice\", true, false, false, true, 0},\n"));
  const Finished uncalled = copy.compile({body});
  EXPECT_NE(uncalled.code, 0);
  EXPECT_NE(uncalled.err.find("'twice' not handled"), std::string::npos) << uncalled.err;
  const std::string text = source(engine),
                    like = "void spread_atomic(GridderEngine<T>& engine, const Batch<T>& batch);\n";
  copy.write(engine,
             with_after(text, like, "template <class T>\nvoid spread_twice(GridderEngine<T>&, const Batch<T>&);\n"));
  copy.write(body, with_after(source(body), "switch (family_now_) {\n",
                              "      case SpreadFamily::twice:\n        spread_twice(e_, batch);\n        break;\n"));
  copy.write(own,
             "#include \"runtime/backends/cpu/gridder/engine.h\"\n"
             "namespace fourtune::runtime::cpu {\n"
             "template <class T>\nvoid spread_twice(GridderEngine<T>& engine, const Batch<T>& batch) {\n"
             "  for (int time = 0; time < 2; ++time) spread_atomic(engine, batch);\n}\n"
             "template void spread_twice(GridderEngine<float>&, const Batch<float>&);\n"
             "template void spread_twice(GridderEngine<double>&, const Batch<double>&);\n"
             "}\n");
  // Plans, rules and costs ask the table.
  const Finished whole = copy.compile({body, own, "generator/plan/plan.cpp", "generator/plan/accuracy.cpp"});
  EXPECT_EQ(whole.code, 0) << whole.err;
}

TEST(Recipes, ASpreaderOfGpusIsATemplateALineInTheTableAndFiveCases) {
  const std::string choices = "generator/plan/nufft/choices.h", rules = "generator/plan/nufft/rules.cpp",
                    defaults = "generator/codegen/nufft/defaults.cpp", kernels = "generator/codegen/nufft/emit.cpp",
                    planner = "generator/planner/gpu_nufft/choices.cpp",
                    cost = "generator/planner/gpu_nufft/gridding.cpp";
  struct Case {
    std::string file, function, text;  // the first `switch` behind `function` gets `text`
  };
  const Case cases[] = {{rules, "std::string one_rule(const Shape& shape, const Parameters& p, Spread family)",
                         "return spread_tile_rule(shape, p, Spread::tile_owned);"},
                        {defaults, "Parameters plain_parameters(const Shape& shape, Spread family", "break;"},
                        {kernels, "KernelSource StageKernels::spreader(", "return tile_spreader(false, rest);"},
                        {planner, "std::vector<Interpolate> partners(Spread spread", "return {tiled, points};"},
                        {cost, "Work spread_work(", "break;"}};
  // What reads and writes plans asks the table.
  std::vector<std::string> all{"generator/plan/gpu_plan_text.cpp"};
  Copy copy;
  const std::string with_family = with_after(source(choices), "enum class Spread {\n", "  twice,\n");
  copy.write(choices, with_family);
  const Finished missing = copy.compile({choices});
  EXPECT_NE(missing.code, 0);
  EXPECT_NE(missing.err.find("each Spread has a line"), std::string::npos) << missing.err;
  copy.write(choices, with_after(with_family, "kSpreads[] = {\n", "    {\"twice\", false, true, false, true},\n"));
  for (const Case& one : cases) all.push_back(one.file);
  const Finished without = copy.compile(all);
  EXPECT_NE(without.code, 0);
  for (const Case& one : cases)
    EXPECT_TRUE(std::regex_search(without.err, std::regex(one.file + ":[0-9:]+ error: .*'twice' not handled")))
        << one.file << " takes it unasked: " << without.err;
  for (const Case& one : cases) {
    const std::string text = source(one.file);
    const std::size_t function = text.find(one.function), body = text.find("switch (", function);
    ASSERT_NE(body, std::string::npos) << one.function << " is not in " << one.file;
    const std::size_t inside = text.find('\n', body) + 1;
    copy.write(one.file,
               text.substr(0, inside) + "    case Spread::twice:\n      " + one.text + "\n" + text.substr(inside));
  }
  const Finished whole = copy.compile(all);
  EXPECT_EQ(whole.code, 0) << whole.err;
}

TEST(Recipes, AnFftOfTheProcessorIsAFileAFamilyAndACall) {
  const std::string plan = "generator/plan/plan.h", header = "runtime/backends/cpu/fft/operation.h",
                    body = "runtime/backends/cpu/fft/fft.cpp", own = "runtime/backends/cpu/fft/copied.cpp",
                    texts = "generator/plan/plan.cpp", planner = "generator/planner/cpu/candidates.cpp";
  Copy copy;
  copy.write(plan, with_after(source(plan), "enum class FftFamily {\n", "  copied,\n"));
  const Finished missing = copy.compile({body});
  EXPECT_NE(missing.code, 0);
  EXPECT_NE(missing.err.find("'copied' not handled"), std::string::npos) << missing.err;
  copy.write(header,
             source(header) +
                 "namespace fourtune::runtime::cpu {\n"
                 "template <class T>\nstd::unique_ptr<FftRunner> make_copied_fft(const FftOperation& op);\n}\n");
  copy.write(body, with_after(source(body), "switch (op.choice.family) {\n",
                              "      case generator::FftFamily::copied:\n        return make_copied_fft<T>(op);\n"));
  copy.write(own,
             "#include \"runtime/backends/cpu/fft/operation.h\"\n"
             "namespace fourtune::runtime::cpu {\nnamespace {\n"
             "struct Copied final : FftRunner {\n"
             "  void run(const void*, void*) override {}\n"
             "  std::int64_t bytes() const override { return 0; }\n"
             "  std::string wisdom() const override { return {}; }\n};\n}\n"
             "template <class T>\nstd::unique_ptr<FftRunner> make_copied_fft(const FftOperation&) {\n"
             "  return std::make_unique<Copied>();\n}\n"
             "template std::unique_ptr<FftRunner> make_copied_fft<float>(const FftOperation&);\n"
             "template std::unique_ptr<FftRunner> make_copied_fft<double>(const FftOperation&);\n}\n");
  copy.write(texts, with_after(source(texts), "fft_families[] = {\n", "    {FftFamily::copied, \"copied\"},\n"));
  copy.write(planner, with_after(source(planner), "std::vector<Choice> choices = {",
                                 "{FftFamily::copied, Rigor::measure, 64}, "));
  const Finished whole = copy.compile({body, own, texts, planner});
  EXPECT_EQ(whole.code, 0) << whole.err;
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
  const Finished whole = copy.compile({table, own});
  EXPECT_EQ(whole.code, 0) << whole.err;
  copy.write(own, planner("listed, usual, cost, least, adapted"));
  EXPECT_NE(copy.compile({own}).code, 0) << "functions in another order are taken";
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
