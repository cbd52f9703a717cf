// libfinufft of every release: it reads and writes that release's option structure, and gives its statuses; and what
// it exports.
#include <cstdint>
#include <sstream>
#include <string>

#include "tests/dropin/library.h"
#include "tests/support/program.h"

namespace fourtune::test {
namespace {

struct Layout {
  const char* release;
  std::size_t size;
  bool second_is_spread_only;
  int too_accurate;  // status of a tolerance of 0
};

class FinufftReleases : public ::testing::TestWithParam<Layout> {};

TEST_P(FinufftReleases, ReadAndWriteTheStructureOfThatRelease) {
  const Layout& layout = GetParam();
  const Library library("finufft", layout.release);
  const AtTheEnd opts(layout.size);
  library.call<void>("finufftf_default_opts", opts.get());
  EXPECT_EQ(opts.at<int>(4), layout.second_is_spread_only ? 0 : 1);
  EXPECT_EQ(opts.at<int>(16), 1);   // showwarn
  EXPECT_EQ(opts.at<int>(24), 64);  // fftw
  EXPECT_EQ(opts.at<double>(40), 0);
  EXPECT_EQ(opts.at<int>(56), -1);
  for (std::size_t offset = 64; offset < layout.size; offset += 4) EXPECT_EQ(opts.at<int>(offset), 0) << offset;
  const std::int64_t n = 20;
  void* plan = nullptr;
  opts.set<int>(16, 0);
  EXPECT_EQ(library.call("finufft_makeplan", 1, 1, &n, 1, 1, 0.0, &plan, opts.get()), layout.too_accurate);
  if (plan) library.call("finufft_destroy", plan);
  EXPECT_EQ(library.call("finufft_makeplan", 1, 1, &n, 1, 1, 1e-6, &plan, opts.get()), 0);
  const double far[] = {0, 10};
  const double* none = nullptr;
  const int outside = std::string(layout.release) == "2.2" ? 4 : 0;  // chkbnds
  EXPECT_EQ(library.call("finufft_setpts", plan, std::int64_t{2}, far, none, none, std::int64_t{0}, none, none, none),
            outside);
  library.call("finufft_destroy", plan);
  if (layout.size == 88) opts.set<void*>(64, plan);
  if (layout.size == 96) opts.set<void*>(72, plan);
  const int lonely_lock = layout.size > 64 ? 22 : 0;
  EXPECT_EQ(library.call("finufft_makeplan", 1, 1, &n, 1, 1, 1e-6, &plan, opts.get()), lonely_lock);
  if (plan) library.call("finufft_destroy", plan);
}

// finufft.fh ends with integers where C has pointers.
TEST_P(FinufftReleases, FortransStructureMayBeShorter) {
  const Layout& layout = GetParam();
  const Library library("finufft", layout.release);
  const bool new_fields = std::string(layout.release).empty();
  const AtTheEnd opts(layout.size == 64 ? 64 : new_fields ? 88 : 80);
  library.call<void>("finufft_default_opts_", opts.get());
  EXPECT_EQ(opts.at<int>(16), 1);
  const int type = 1, dim = 1, sign = 1, count = 2;
  const std::int64_t n[] = {9, 1, 1};
  const double tol = 1e-6;
  void* plan = nullptr;
  int status = -1;
  library.call<void>("finufft_makeplan_", &type, &dim, n, &sign, &count, &tol, &plan, opts.get(), &status);
  EXPECT_EQ(status, 0);
  library.call<void>("finufft_destroy_", &plan, &status);
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(, FinufftReleases,
                         ::testing::Values(Layout{"2.2", 64, false, 1}, Layout{"2.3", 64, false, 1},
                                           Layout{"2.4", 88, true, 1}, Layout{"2.5", 96, true, 1},
                                           Layout{"", 96, true, 26}));

TEST(FinufftExports, AreTheDocumentedFunctionsAndNothingElse) {
  if (!has_program("nm")) GTEST_SKIP() << "no nm";
  const Library library("finufft", "");
  const Finished listed = run_program({"nm", "-D", "--defined-only", "--format=just-symbols", library.path()});
  ASSERT_EQ(listed.code, 0) << listed.err;
  std::istringstream lines(listed.out);
  int count = 0;
  for (std::string name; std::getline(lines, name); ++count)
    EXPECT_TRUE(name.starts_with("finufft") || name == "FINUFFT_FFT_DEFAULT") << name;
  EXPECT_EQ(count, 2 * 2 * (18 + 6) + 1);  // precisions; C and Fortran; simple functions, and those with a plan
}

}  // namespace
}  // namespace fourtune::test
