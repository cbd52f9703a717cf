// `fourtune run`: a result that it writes and calls right is that of the transform, and a wrong result ends it with 1.
#include <cmath>
#include <complex>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/npy.h"
#include "tests/support/command.h"

namespace fourtune::test {
namespace {

using Json = nlohmann::json;
using Complex = std::complex<double>;

using Words = std::vector<std::string>;

class RunCommand : public CommandTest {
 protected:
  RunCommand() : CommandTest("run") {}
  std::string written(const std::string& name, const std::vector<Complex>& values) {
    write_npy((folder / name).string(), "<c16", {static_cast<std::int64_t>(values.size())}, values.data(),
              values.size() * sizeof(Complex));
    return (folder / name).string();
  }
  std::vector<Complex> read(const std::string& name) { return read_npy((folder / name).string()).values; }
};

std::vector<Complex> dft(const std::vector<Complex>& in, int sign) {
  std::vector<Complex> out(in.size());
  for (std::size_t k = 0; k < in.size(); ++k)
    for (std::size_t j = 0; j < in.size(); ++j)
      out[k] += in[j] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % in.size()) /
                                            static_cast<double>(in.size()));
  return out;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // the sanitizers need a lot of address space
// A stack of the size that is asked for here has no place in this address space, so no thread can be made, neither by
// the library nor by the sums that its results are compared with.
TEST_F(RunCommand, WorksWhereNoThreadCanBeMade) {
  for (const std::string token :
       {"nufft:type=1,n=64x64,m=4000,prec=f64,tol=1e-6", "nufft:type=3,dim=2,m=900,k=800,prec=f32,tol=1e-3",
        "fft:type=c2c,n=64x64x16,prec=f64", "fft:type=c2r,n=48x30,prec=f32,batch=9"}) {
    const std::string limited = "ulimit -s 3000000; ulimit -v 2500000; exec '" + fourtune_program() + "' run " + token +
                                " --repeat 1 --backend cpu";
    const Finished result =
        run_program({"/bin/bash", "-c", limited}, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}});
    EXPECT_EQ(result.code, 0) << token << ": " << result.err;
    EXPECT_NE(result.out.find("(right; up to "), std::string::npos) << token << ": " << result.out;
  }
}
#endif

// In place, the input is restored over the output before every execution, but never after the last one.
TEST_F(RunCommand, WritesTheTransformInPlaceOnEveryBackend) {
  std::vector<Complex> values;
  for (int i = 0; i < 12; ++i) values.emplace_back(0.5 * i - 2, 3 - i * i % 7);
  const std::string in = written("in.npy", values);
  for (const char* backend : {"cpu", "emulated"})
    for (const char* place : {"in", "out"})
      for (const bool adjoint : {false, true}) {
        SCOPED_TRACE(std::string(backend) + " place=" + place + (adjoint ? " adjoint" : ""));
        std::vector<std::string> words{std::string("fft:type=c2c,n=12,prec=f64,place=") + place,
                                       "--backend",
                                       backend,
                                       "--values",
                                       in,
                                       "--output",
                                       "out.npy",
                                       "--repeat",
                                       "2",
                                       "--json"};
        if (adjoint) words.emplace_back("--adjoint");
        const Finished result = run(words);
        ASSERT_EQ(result.code, 0) << result.out << result.err;
        EXPECT_EQ(Json::parse(result.out)["right"], true);
        const std::vector<Complex> got = read("out.npy"), want = dft(values, adjoint ? 1 : -1);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LT(std::abs(got[i] - want[i]), 1e-12) << i;
      }
}

TEST_F(RunCommand, RealTransformsInPlaceAreRightOnEveryBackend) {
  for (const char* backend : {"cpu", "emulated"})
    for (const char* token : {"fft:type=r2c,n=12x5,prec=f32,place=in", "fft:type=c2r,n=9,prec=f64,batch=3,place=in"})
      for (const bool adjoint : {false, true}) {
        std::vector<std::string> words{token, "--backend", backend, "--repeat", "1"};
        if (adjoint) words.emplace_back("--adjoint");
        const Finished result = run(words);
        EXPECT_EQ(result.code, 0) << token << ' ' << backend << '\n' << result.out << result.err;
        EXPECT_NE(result.out.find("; up to"), std::string::npos) << result.out;
      }
}

// What is timed by stages and launches is a second instance of the transform.
TEST_F(RunCommand, LaunchesAreThoseOfADeterministicTransformWhereOneIsAskedFor) {
  const auto launches = [&](bool deterministic) {
    Words words{"nufft:type=1,n=12x10,m=60,prec=f32,tol=1e-2", "--backend", "emulated", "--repeat", "1", "--json"};
    if (deterministic) words.emplace_back("--deterministic");
    const Finished result = run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out)["launches"].size();
  };
  EXPECT_GT(launches(true), launches(false)) << "sums in fixed point need more kernels";
}

// A window of two cells gives two correct digits, however many are requested.
TEST_F(RunCommand, AWrongResultEndsItWithOne) {
  const std::string plan =
      "cpu;threads=1;window=pswf(sigma=2,width=2,fine=32);sort=none;spread=atomic;interp=direct;fft=pruned";
  const std::vector<std::string> words{"nufft:type=1,n=16,m=50,prec=f64,tol=1e-9", "--backend", "cpu", "--plan", plan};
  const Finished text = run(words);
  EXPECT_EQ(text.code, 1) << text.out << text.err;
  EXPECT_NE(text.out.find("WRONG"), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("the result is wrong"), std::string::npos) << text.err;

  std::vector<std::string> more = words;
  more.emplace_back("--json");
  const Finished json = run(more);
  EXPECT_EQ(json.code, 1) << json.out << json.err;
  EXPECT_EQ(Json::parse(json.out)["right"], false);

  more.back() = "--no-check";
  const Finished unchecked = run(more);
  EXPECT_EQ(unchecked.code, 0) << unchecked.out << unchecked.err;
  EXPECT_NE(unchecked.out.find("not checked"), std::string::npos) << unchecked.out;
}

}  // namespace
}  // namespace fourtune::test
