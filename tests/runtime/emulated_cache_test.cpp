// Compiled kernels are kept one by one, so that programs and processes share them.
#include <cstdlib>
#include <filesystem>

#include "tests/runtime/emulated_support.h"
#include "tests/support/program.h"

namespace fourtune::runtime::emulated::testing {
namespace {

class EmulatedCache : public ::testing::Test {
 protected:
  EmulatedCache() {
    ::setenv("FOURTUNE_EMULATED_CACHE", folder_.path().c_str(), 1);
    ::unsetenv("FOURTUNE_EMULATED_QUICK");
  }
  ~EmulatedCache() override { ::unsetenv("FOURTUNE_EMULATED_CACHE"); }

  static KernelSource adding(const std::string& entry, int number) {
    KernelSource kernel;
    kernel.entry = entry;
    kernel.text = "extern \"C\" __global__ void " + entry +
                  "(float* values, float*) {\n  values[threadIdx.x] += " + std::to_string(number) + ";\n}\n";
    kernel.block = {32, 1, 1};
    return kernel;
  }
  // Adds the kernels' numbers; returns how often the compiler ran.
  static int compilations_to_add(const std::vector<KernelSource>& kernels, float sum, const CompileOptions& with = {}) {
    GpuProgram program;
    program.kernels = kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      program.launches.push_back({static_cast<int>(i), {1, 1, 1}, {kFirst, kFirst}, "add", 0, 0});
    const int before = compilations();
    std::vector<float> values(32);
    RunOptions options;
    options.instrumented = with.instrumented;
    Program(program, with).run(bytes_of(values), bytes_of(values), options);
    EXPECT_EQ(values, std::vector<float>(32, sum));
    return compilations() - before;
  }
  std::vector<std::filesystem::path> libraries() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (entry.path().extension() == ".so") found.push_back(entry.path());
    return found;
  }

  test::ScratchFolder folder_;
};

TEST_F(EmulatedCache, KernelsAreSharedWhateverTheyWereCompiledWith) {
  const KernelSource one = adding("one", 1), two = adding("two", 20), three = adding("three", 300);
  EXPECT_EQ(compilations_to_add({one, two}, 21), 1);
  EXPECT_EQ(compilations_to_add({two, three}, 320), 1);
  EXPECT_EQ(libraries().size(), 2u) << "the second library has the missing kernel alone";
  EXPECT_EQ(compilations_to_add({three, one, two, one}, 322), 0) << "from both libraries, and one of them twice";
  EXPECT_EQ(compilations_to_add({adding("one", 4000), one, two}, 4021), 1) << "another text of the same name";
}

TEST_F(EmulatedCache, OtherOptionsAreOtherKernels) {
  const KernelSource one = adding("one", 1);
  EXPECT_EQ(compilations_to_add({one}, 1), 1);
  EXPECT_EQ(compilations_to_add({one}, 1, {.quick = true}), 1);
  EXPECT_EQ(compilations_to_add({one}, 1, {.instrumented = true}), 1);
  ::setenv("FOURTUNE_EMULATED_QUICK", "1", 1);
  EXPECT_EQ(compilations_to_add({one}, 1), 0) << "is there without optimisation";
  EXPECT_EQ(compilations_to_add({one}, 1, {.instrumented = true}), 0) << "is always optimised";
  ::unsetenv("FOURTUNE_EMULATED_QUICK");
}

TEST_F(EmulatedCache, WhatIsNeitherQuickNorNotIsRefusedByName) {
  for (const char* unclear : {"yes", "01", "2", "off"}) {
    ::setenv("FOURTUNE_EMULATED_QUICK", unclear, 1);
    try {
      compilations_to_add({adding("one", 1)}, 1);
      ADD_FAILURE() << unclear << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("FOURTUNE_EMULATED_QUICK is '" + std::string(unclear)),
                std::string::npos)
          << error.what();
    }
  }
  ::setenv("FOURTUNE_EMULATED_QUICK", "0", 1);
  EXPECT_EQ(compilations_to_add({adding("one", 1)}, 1), 1);
  ::setenv("FOURTUNE_EMULATED_QUICK", "", 1);
  EXPECT_EQ(compilations_to_add({adding("one", 1)}, 1), 0);
  ::unsetenv("FOURTUNE_EMULATED_QUICK");
}

// Other processes limit the folder, and delete libraries whose kernels still have their names there.
TEST_F(EmulatedCache, ALibraryThatWasDeletedIsMadeAnew) {
  const KernelSource one = adding("one", 1), two = adding("two", 20);
  EXPECT_EQ(compilations_to_add({one, two}, 21), 1);
  for (const auto& library : libraries()) std::filesystem::remove(library);
  EXPECT_EQ(compilations_to_add({two}, 20), 1);
  EXPECT_EQ(compilations_to_add({one, two}, 21), 1);
  EXPECT_EQ(compilations_to_add({two, one}, 21), 0);
}

}  // namespace
}  // namespace fourtune::runtime::emulated::testing
