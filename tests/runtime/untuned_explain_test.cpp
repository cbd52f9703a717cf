// What explain says about untuned plans.
#include <gtest/gtest.h>

#include "base/known_devices.h"
#include "runtime/resolve.h"

namespace fourtune::runtime {
namespace {

TEST(UntunedExplain, NamesWhatThePlanIsAndOnlyTheCostModelsChoiceAsSuch) {
  const DeviceTraits h100 = *generator::known_device("h100");
  const auto explain = [&](const char* token) { return resolve(parse_problem(token), h100, nullptr, "").explain; };
  const std::string faster = explain("fft:type=r2c,n=1048576,prec=f32,batch=8"),
                    plain = explain("fft:type=c2c,n=100x100,prec=f32"),
                    library = explain("fft:type=c2c,n=16777259,prec=f32"),
                    model = explain("nufft:type=1,n=32x32,m=500,prec=f32,tol=1e-3");
  EXPECT_NE(faster.find("cuFFT, which the estimates expect to be the faster one"), std::string::npos) << faster;
  EXPECT_NE(plain.find("generated kernels that take any size"), std::string::npos) << plain;
  EXPECT_NE(library.find("cuFFT, as no generated kernels take this problem: length 16777259"), std::string::npos)
      << library;
  EXPECT_NE(model.find("the cost model's choice; nothing tuned fits"), std::string::npos) << model;
  for (const std::string& text : {faster, plain, library})
    EXPECT_EQ(text.find("cost model"), std::string::npos) << text;
}

}  // namespace
}  // namespace fourtune::runtime
