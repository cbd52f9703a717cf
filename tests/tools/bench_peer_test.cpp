#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <vector>

#include "tests/support/program.h"
#include "tools/bench/peers/finufft.h"
#include "tuner/measure/validate.h"

namespace fourtune::tools {
namespace {

std::string peer(const std::string& name) {
  return std::string(FOURTUNE_BUILD_DIR) + "/tests/peers/fake_" + name + ".so";
}

// The fault that is given when a library is refused.
std::string refusal_of(const std::string& path) {
  try {
    const FinufftLibrary library(path);
    return "accepted as " + library.version();
  } catch (const PeerError& error) {
    std::string name = to_string(error.fault());
    EXPECT_TRUE(std::string(error.what()).starts_with(name + ": ")) << error.what();
    EXPECT_FALSE(error.hint().empty());
    return name;
  }
}

double error_of(const FinufftLibrary& library, const std::string& token, std::string* refusal = nullptr) {
  const Problem problem = parse_problem(to_token(tuner::bound_problem(parse_problem(token))));
  tuner::ProblemData data(problem, 3);
  const auto contender = library.make(problem, 1);
  contender->set_points(data.points());
  data.prepare();
  contender->execute(data.first(), data.second());
  if (refusal) *refusal = contender->refusal();
  return data.error();
}

TEST(BenchPeer, EveryKnownLayoutIsAccepted) {
  for (const auto& [name, version] :
       {std::pair{"v23", "2.3.1"}, {"v24", "2.4.1"}, {"v25", "2.5.1"}, {"v26", "2.6.0-dev"}}) {
    const FinufftLibrary library(peer(name));
    EXPECT_EQ(library.version(), version);
    EXPECT_EQ(library.fft(), "fftw");
    EXPECT_EQ(library.can_override(), std::string(name) == "v26");
  }
}

TEST(BenchPeer, MissingFileIsRefusedByName) {
  EXPECT_EQ(refusal_of("/nonexistent/libfinufft.so"), "missing_file");
  EXPECT_EQ(refusal_of("/"), "missing_file");
}

TEST(BenchPeer, FileThatIsNoLibraryIsRefusedByName) {
  const test::ScratchFolder folder;
  test::write_text(folder / "libfinufft.so", "FINUFFT version 2.5.1 is what this text claims\n");
  EXPECT_EQ(refusal_of((folder / "libfinufft.so").string()), "not_loadable");
}

TEST(BenchPeer, LibraryWithoutTheInterfaceIsRefusedByName) { EXPECT_EQ(refusal_of(peer("empty")), "not_finufft"); }

TEST(BenchPeer, UnknownVersionsAreRefusedByName) {
  EXPECT_EQ(refusal_of(peer("no_version")), "unknown_version");
  EXPECT_EQ(refusal_of(peer("future")), "unknown_version");
}

TEST(BenchPeer, LayoutsOfAnotherVersionAreRefusedByName) {
  EXPECT_EQ(refusal_of(peer("too_large")), "layout_mismatch");
  EXPECT_EQ(refusal_of(peer("too_small")), "layout_mismatch");
  EXPECT_EQ(refusal_of(peer("odd_defaults")), "layout_mismatch");
}

TEST(BenchPeer, VersionIsFoundAcrossBlocksOfTheFile) {
  const test::ScratchFolder folder;
  const std::string text = "FINUFFT version 2.4.1 ...";
  for (const std::size_t before : {std::size_t{0}, (std::size_t{1} << 20) - 5, (std::size_t{1} << 20) - 20}) {
    test::write_text(folder / "file", std::string(before, 'x') + text);
    EXPECT_EQ(find_finufft_version((folder / "file").string()), "2.4.1") << before;
  }
  test::write_text(folder / "file", "FINUFFT version: none");
  EXPECT_EQ(find_finufft_version((folder / "file").string()), "");
}

TEST(BenchPeer, AllTypesAndPrecisionsGetTheirArgumentsInOurConventions) {
  const FinufftLibrary library(peer("v25"));
  EXPECT_LT(error_of(library, "nufft:type=1,n=6x5x4,m=30,prec=f64,tol=1e-9,batch=2"), 1e-12);
  EXPECT_LT(error_of(library, "nufft:type=1,n=7x4,m=30,prec=f32,tol=1e-3,sign=1"), 1e-5);
  EXPECT_LT(error_of(library, "nufft:type=2,n=7x4,m=30,prec=f64,tol=1e-9"), 1e-12);
  EXPECT_LT(error_of(library, "nufft:type=2,n=11,m=30,prec=f32,tol=1e-3,sign=-1"), 1e-5);
  EXPECT_LT(error_of(library, "nufft:type=3,dim=2,m=30,k=20,prec=f64,tol=1e-9"), 1e-12);
}

TEST(BenchPeer, RefusedRequestRunsWithTheOverrideAndSaysSo) {
  std::string refusal;
  EXPECT_LT(error_of(FinufftLibrary(peer("v26")), "nufft:type=1,n=16,m=30,prec=f32,tol=1e-6", &refusal), 1e-5);
  EXPECT_NE(refusal.find("error 26"), std::string::npos) << refusal;
  EXPECT_LT(error_of(FinufftLibrary(peer("v26")), "nufft:type=1,n=16,m=30,prec=f32,tol=1e-3", &refusal), 1e-5);
  EXPECT_EQ(refusal, "");
}

TEST(BenchPeer, UniformTransformIsNotAPeersProblem) {
  EXPECT_THROW(FinufftLibrary(peer("v25")).make(parse_problem("fft:type=c2c,n=8,prec=f64"), 1), Failure);
}

}  // namespace
}  // namespace fourtune::tools
