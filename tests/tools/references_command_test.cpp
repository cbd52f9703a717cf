// FOURTUNE_REFERENCES: who makes the direct sums of `run`, `tune` and `soak`, on the emulated GPU.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

class References : public testing::Test {
 protected:
  Finished run(std::vector<std::string> words, const std::string& who) const {
    words.insert(words.begin(), fourtune_program());
    words.insert(words.end(), {"--backend", "emulated"});
    return run_program(words, folder.path(),
                       {{"FOURTUNE_DB", (folder / "own.db").string()}, {"FOURTUNE_REFERENCES", who}});
  }
  ScratchFolder folder;
};

TEST_F(References, OfTheDeviceAreThoseOfTheHostInEveryDirection) {
  for (std::vector<std::string> words : {std::vector<std::string>{"nufft:type=1,n=12,m=40,prec=f64,tol=1e-2"},
                                         {"nufft:type=2,n=6x5,m=40,prec=f32,tol=1e-2,batch=3", "--adjoint"},
                                         {"nufft:type=3,dim=1,m=40,k=30,prec=f32,tol=1e-2", "--adjoint"}}) {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--repeat", "1", "--format", "json"});
    const Finished device = run(words, "device"), host = run(words, "host");
    ASSERT_EQ(device.code, 0) << device.err;
    ASSERT_EQ(host.code, 0) << host.err;
    const auto by_device = nlohmann::json::parse(device.out), by_host = nlohmann::json::parse(host.out);
    EXPECT_EQ(by_device["references"], "device") << words[1];
    EXPECT_EQ(by_host["references"], "host");
    EXPECT_NEAR(by_device["error"].get<double>(), by_host["error"].get<double>(), 1e-6) << words[1];
  }
}

TEST_F(References, OfTheDeviceServeTheSoakWithPointsOfEachTransform) {
  for (const char* one : {"nufft:type=1,n=8x7,m=60,prec=f64,tol=1e-2,batch=3 adjoint distinct order=fft",
                          "nufft:type=3,dim=1,m=40,k=30,prec=f32,tol=1e-2,batch=2 distinct adjoint at=far"}) {
    const Finished tried = run({"soak", "--repeat", one, "--untuned"}, "device");
    EXPECT_EQ(tried.code, 0) << tried.out << tried.err;
    EXPECT_NE(tried.out.find("all is well"), std::string::npos) << tried.out;
  }
}

TEST_F(References, TuneByTheDevice) {
  const Finished tuned =
      run({"tune", "nufft:type=1,n=12,m=40,prec=f64,tol=1e-2", "--max-evaluations", "2", "--seconds", "0", "--quiet"},
          "device");
  EXPECT_EQ(tuned.code, 0) << tuned.out << tuned.err;
}

TEST_F(References, OfNobodyElse) {
  for (const char* command : {"run", "tune"}) {
    const Finished refused = run({command, "nufft:type=1,n=12,m=40,prec=f64,tol=1e-2"}, "pigeons");
    EXPECT_NE(refused.code, 0) << command;
    EXPECT_NE((refused.out + refused.err).find("FOURTUNE_REFERENCES=pigeons: host or device"), std::string::npos)
        << refused.out << refused.err;
  }
}

}  // namespace
}  // namespace fourtune::test
