// FOURTUNE_TEST_ISA=avx512, avx2 or portable: every test of the program runs on that instruction set instead of the
// processor's best. tools/check runs all of them under the address sanitizer.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <string>

namespace {

class ForcedIsa : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* asked = std::getenv("FOURTUNE_TEST_ISA");
    if (!asked) return;
    const std::string isa = asked;
    const std::int64_t wanted = isa == "avx512" ? HWY_AVX3 : isa == "avx2" ? HWY_AVX2 : HWY_SCALAR;
    ASSERT_TRUE(wanted != HWY_SCALAR || isa == "portable") << "FOURTUNE_TEST_ISA=" << isa;
    ASSERT_TRUE(wanted == HWY_SCALAR || (hwy::SupportedTargets() & wanted) != 0) << "this processor has no " << isa;
    hwy::SetSupportedTargetsForTest(wanted | (isa == "avx512" ? HWY_AVX2 : 0) | HWY_SCALAR);
  }
};

const auto* const environment = ::testing::AddGlobalTestEnvironment(new ForcedIsa);

}  // namespace
