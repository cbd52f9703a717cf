// Device peers and arrays of `fourtune bench` in host memory: the emulated backend with stand-ins for the libraries.
#include <gtest/gtest.h>

#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/support/probe_backend.h"
#include "tests/support/program.h"
#include "tools/bench/measure/arrays.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/peers/finufft.h"
#include "tools/bench/peers/peers.h"
#include "tools/bench/report/csv_read.h"
#include "tools/bench/report/report.h"
#include "tools/bench/report/series.h"
#include "tools/bench/suites/suites.h"
#include "tools/common/device_arrays.h"
#include "tools/common/gpu_backends.h"

namespace fourtune::tools {
namespace {

std::string path_of(const std::string& name) {
  return std::string(FOURTUNE_BUILD_DIR) + "/tests/peers/fake_" + name + ".so";
}

const runtime::Backend& emulated() { return bench_backend("emulated"); }

std::string fault_of(const std::string& name) {
  try {
    return "accepted: " + load_peer_library(path_of(name))->describe();
  } catch (const PeerError& error) {
    return to_string(error.fault());
  }
}

MeasureOptions quick() {
  MeasureOptions options;
  options.backend = &emulated();
  options.rounds = options.min_rounds = options.set_points_rounds = 1;
  return options;
}

ProblemResult measured(const std::string& token, const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(path_of(name));
  const std::vector<Peer> peers = load_peers(paths, emulated());
  const Problem problem = parse_problem(token);
  std::vector<Entrant> entrants;
  for (const Peer& peer : peers) entrants.push_back(peer_entrant(peer, problem, 1));
  return measure_problem(problem, entrants, quick());
}

TEST(DevicePeers, LibraryIsKnownByItsSymbolsAndItsVersionByTheOptionsThatItWrites) {
  EXPECT_EQ(fault_of("cufinufft_22"), "accepted: cuFINUFFT with the options of 2.2");
  EXPECT_EQ(fault_of("cufinufft_23"), "accepted: cuFINUFFT with the options of 2.3");
  EXPECT_EQ(fault_of("cufinufft_24"), "accepted: cuFINUFFT with the options of 2.4");
  EXPECT_EQ(fault_of("cufinufft_25"), "accepted: cuFINUFFT with the options of 2.5 or later");
  EXPECT_EQ(fault_of("cufft"), "accepted: cuFFT 12.0.4");
  EXPECT_EQ(fault_of("adapter"), "accepted: direct sums 1.0");
  EXPECT_EQ(fault_of("v25"), "accepted: FINUFFT 2.5.1, fftw FFT");
}

TEST(DevicePeers, ForeignAndIncompleteLibrariesAreRefusedByName) {
  EXPECT_EQ(fault_of("cufinufft_odd"), "layout_mismatch");
  EXPECT_EQ(fault_of("cufinufft_half"), "not_cufinufft");
  EXPECT_EQ(fault_of("adapter_future"), "unknown_version");
  EXPECT_EQ(fault_of("nothing"), "missing_file");
}

// A structure of the right size whose fields lie elsewhere would have values that no default has.
TEST(DevicePeers, OptionsOfTheRightSizeWithImpossibleDefaultsAreAnotherLayout) {
  const auto fault_with = [](const char* option) {
    ::setenv("FAKE_OPTION", option, 1);
    std::string fault = fault_of("cufinufft_25");
    ::unsetenv("FAKE_OPTION");
    return fault;
  };
  const std::string accepted = "accepted: cuFINUFFT with the options of 2.5 or later";
  // The upper half of the upsampling factor: 4, 8 and -2.
  EXPECT_EQ(fault_with("4 1074790400"), accepted);
  EXPECT_EQ(fault_with("4 1075838976"), "layout_mismatch");
  EXPECT_EQ(fault_with("4 -1073741824"), "layout_mismatch");
  for (const auto& [method, fault] : {std::pair{"8 0", accepted.c_str()},
                                      {"8 4", accepted.c_str()},
                                      {"8 5", "layout_mismatch"},
                                      {"8 -1", "layout_mismatch"}})
    EXPECT_EQ(fault_with(method), fault) << "method " << method;
  for (const char* other : {"48 1", "56 1", "64 1", "68 1"})  // spread only, device, both halves of the stream
    EXPECT_EQ(fault_with(other), "layout_mismatch") << other;
}

TEST(DevicePeers, ArraysOfThePeerMustBeWhereTheBackendHasThem) {
  EXPECT_THROW(load_peers({path_of("v25")}, emulated()), UsageError);
  EXPECT_THROW(load_peers({path_of("cufft")}, bench_backend("cpu")), UsageError);
  EXPECT_THROW(load_peers({path_of("adapter_device")}, bench_backend("cpu")), UsageError);
  EXPECT_EQ(load_peers({path_of("adapter"), path_of("adapter")}, bench_backend("cpu"))[1].name, "sums-2");
}

// Host memory that counts its arrays.
class CountedMemory final : public runtime::ArrayMemory {
 public:
  explicit CountedMemory(int& arrays) : arrays_(arrays) {}
  void* allocate(std::size_t bytes) override { return ++arrays_, std::malloc(bytes); }
  void release(void* array) noexcept override { std::free(array); }
  void upload(void* array, const void* host, std::size_t bytes) override { std::memcpy(array, host, bytes); }
  void download(void* host, const void* array, std::size_t bytes) override { std::memcpy(host, array, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* array, unsigned char byte, std::size_t bytes) override { std::memset(array, byte, bytes); }
  void wait() override {}

 private:
  int& arrays_;
};

class CountedBackend final : public test::ProbeBackend {
 public:
  DeviceTraits traits_of(int device) const override {
    DeviceTraits traits = ProbeBackend::traits_of(device);
    traits.l2_bytes = 1 << 20;
    return traits;
  }
  std::unique_ptr<runtime::ArrayMemory> memory(int) const override { return std::make_unique<CountedMemory>(arrays); }
  std::unique_ptr<runtime::StreamTimer> timer(int) const override { return runtime::clock_timer(); }
  mutable int arrays = 0;
};

TEST(MeasuredCopy, RotatesOverTwiceTheCache) {
  const CountedBackend backend;
  EXPECT_GT(measure_copy(backend, 64 << 10, 0), 0);
  EXPECT_EQ(backend.arrays, 32);  // 16 pairs of 128 KiB
}

TEST(DevicePeers, CufinufftHasItsThirdMethodExceptWhereItInterpolates) {
  const auto peer = load_peer_library(path_of("cufinufft_25"));
  for (const auto& [token, variants] : {std::pair{"nufft:type=1,n=7,m=30,prec=f32,tol=1e-3", 6u},
                                        {"nufft:type=2,n=7,m=30,prec=f32,tol=1e-3", 4u},
                                        {"nufft:type=3,dim=1,m=30,k=20,prec=f32,tol=1e-3", 6u}})
    EXPECT_EQ(peer->variants(parse_problem(token), 1).size(), variants) << token;
}

TEST(DevicePeers, CufinufftRunsItsFastestRightVariantInEveryTypeAndPrecision) {
  for (const char* token :
       {"nufft:type=1,n=6x5x4,m=30,prec=f64,tol=1e-9,batch=2", "nufft:type=1,n=7,m=30,prec=f32,tol=1e-3",
        "nufft:type=2,n=7x4,m=30,prec=f64,tol=1e-9", "nufft:type=3,dim=2,m=30,k=20,prec=f32,tol=1e-3"}) {
    const ProblemResult result = measured(token, {"cufinufft_25"});
    ASSERT_EQ(result.contenders.size(), 1u) << token;
    const ContenderResult& one = result.contenders.front();
    EXPECT_TRUE(one.ran() && one.right) << token << ": " << one.failure;
    EXPECT_EQ(one.plan, "method=2, upsampfac=2") << token;  // 1.25 is equally fast but wrong
    EXPECT_NE(one.variants.find("upsampfac=1.25: "), std::string::npos) << one.variants;
    EXPECT_NE(one.variants.find("method=1, upsampfac=2: makeplan fails with error 22"), std::string::npos);
    EXPECT_EQ(one.total_ns.size(), 1u);
    EXPECT_EQ(one.transfers_ns.size(), 1u);
  }
}

TEST(DevicePeers, CufftAndAdapterGetEveryKindOfLayout) {
  for (const char* token :
       {"fft:type=c2c,n=6x5x4,prec=f64,batch=2", "fft:type=c2c,n=8,prec=f32,place=in,sign=1",
        "fft:type=r2c,n=6x5,prec=f32,batch=2", "fft:type=r2c,n=6x5,prec=f64,place=in",
        "fft:type=c2r,n=7x4x2,prec=f64,sign=1", "fft:type=c2r,n=6x4,prec=f32,batch=2,place=in,sign=1"}) {
    const ProblemResult result = measured(token, {"cufft", "adapter"});
    ASSERT_EQ(result.contenders.size(), 2u) << token;
    EXPECT_TRUE(result.contenders[0].ran() && result.contenders[0].right)
        << token << ": " << result.contenders[0].failure << " error " << result.contenders[0].error;
    if (std::string(token).find("place=in") != std::string::npos)
      EXPECT_EQ(result.contenders[1].failure, "refuses: in place is not done here");
    else
      EXPECT_TRUE(result.contenders[1].ran() && result.contenders[1].right) << token;
    EXPECT_GT(result.sets, 1) << "small data must rotate";
    EXPECT_GT(result.copy_bandwidth, 0);
  }
}

// cuFFT has r2c with sign -1 and c2r with sign 1: it runs as usual, and what it wrote is compared as the other sign's.
TEST(DevicePeers, CufftIsComparedForBothSignsOfRealTransforms) {
  for (const char* token :
       {"fft:type=c2r,n=9,prec=f64", "fft:type=c2r,n=7x4x5,prec=f32,batch=3", "fft:type=c2r,n=6x5,prec=f64,place=in",
        "fft:type=c2r,n=8x1x3,prec=f32,batch=2,place=in", "fft:type=c2r,n=6x4,prec=f64,batch=2,layout=2x8+40/3x18+80",
        "fft:type=r2c,n=9x4,prec=f64,batch=2,sign=1", "fft:type=r2c,n=8x3x5,prec=f32,place=in,sign=1"}) {
    const ContenderResult one = measured(token, {"cufft"}).contenders.front();
    EXPECT_TRUE(one.ran() && one.right) << token << ": " << one.failure << " error " << one.error;
  }
}

TEST(DevicePeers, AdapterDoesNonuniformTransformsToo) {
  for (const char* token : {"nufft:type=1,n=6x5,m=30,prec=f64,tol=1e-9", "nufft:type=2,n=9,m=30,prec=f32,tol=1e-3",
                            "nufft:type=3,dim=1,m=30,k=20,prec=f64,tol=1e-9,batch=3"})
    EXPECT_TRUE(measured(token, {"adapter"}).contenders.front().right) << token;
}

TEST(DevicePeers, RefusedSizesAreFailuresWithTheReason) {
  const ProblemResult result = measured("fft:type=c2c,n=17,prec=f32", {"cufft"});
  EXPECT_EQ(result.contenders.front().failure, "cufftMakePlanMany64 fails with cuFFT's error 8");
  EXPECT_NE(skip_notes({&result, 1}).find("cuFFT's error 8"), std::string::npos);
}

TEST(BenchArraysTest, ErrorSeesOnlyWhatWasWrittenAndInputIsFreshInEverySet) {
  const auto arrays = make_bench_arrays(parse_problem("fft:type=c2c,n=4,prec=f64,place=in"), 3, emulated());
  ASSERT_TRUE(arrays->destroys_input());
  ASSERT_GT(arrays->sets(), 1);
  arrays->prepare();
  auto* const last = static_cast<double*>(arrays->first(arrays->sets() - 1));
  EXPECT_EQ(last, arrays->second(arrays->sets() - 1));
  const double value = last[5];
  last[5] = 7;
  arrays->restore_input();
  EXPECT_EQ(last[5], value);
  const auto apart = make_bench_arrays(parse_problem("nufft:type=2,n=4,m=3,prec=f32,tol=1e-3"), 3, emulated());
  apart->prepare();
  EXPECT_FALSE(apart->error() <= 1);  // NaN: nothing was written
  EXPECT_FALSE(apart->destroys_input());
}

TEST(BenchArraysTest, OnTheProcessorThereIsOneSetInTheCallersMemory) {
  const runtime::Backend& cpu = bench_backend("cpu");
  for (const char* token : {"fft:type=c2c,n=4,prec=f64,place=in", "nufft:type=1,n=4,m=3,prec=f32,tol=1e-3",
                            "nufft:type=2,n=4,m=3,prec=f64,tol=1e-3"}) {
    const Problem problem = parse_problem(token);
    const auto arrays = make_bench_arrays(problem, 3, cpu);
    EXPECT_FALSE(arrays->on_device()) << token;
    EXPECT_EQ(arrays->sets(), 1) << token;
    EXPECT_EQ(arrays->destroys_input(), problem.place == Place::in) << token;
    EXPECT_EQ(arrays->free_bytes(), 0) << token;
    EXPECT_TRUE(make_bench_arrays(problem, 3, emulated())->on_device()) << token;
    // Reordering is given the output: of a type 2, what execute takes first.
    arrays->prepare();
    void* seen = nullptr;
    arrays->error([&](void* output) { seen = output; });
    EXPECT_EQ(seen, problem.type == 2 && problem.kind == Kind::nufft ? arrays->first(0) : arrays->second(0)) << token;
  }
}

TEST(DeviceArraysTest, SetsRotatePastTwiceTheCache) {
  EXPECT_EQ(rotated_sets(100, 1000), 20);
  EXPECT_EQ(rotated_sets(1999, 1000), 2);
  EXPECT_EQ(rotated_sets(2000, 1000), 1);
  EXPECT_EQ(rotated_sets(1, 1 << 30), 64);
  EXPECT_EQ(rotated_sets(0, 1000), 1);
  EXPECT_EQ(rotated_sets(5, 0), 1);
}

TEST(BenchReportDevice, PassesStandBesideTheCopyBandwidthAndModesBesideThePeers) {
  ProblemResult result;
  result.token = "nufft:type=1,n=64x64,m=1000,prec=f32,tol=1e-3";
  result.problem = parse_problem(result.token);
  result.copy_bandwidth = 4e12;
  result.peak_flops = 1e13;
  ContenderResult ours, peer;
  ours.role = Role::untuned;
  peer.name = "p";
  for (ContenderResult* one : {&ours, &peer}) {
    one->execute_ns = one->set_points_ns = {1000};
    one->execute = one->set_points = one->total = one->transfers = {one == &ours ? 1000.0 : 3000.0, 900, 1100};
    one->right = true;
    one->memory = 1 << 20;
  }
  ours.passes = {
      {"fft", "kernel_a", 1e-3, 2e9, 4e9}, {"spread", "s", 1e-3, 4e8, 6e9}, {"fft", "kernel_b", 1e-3, 1e9, 0}};
  peer.variants = "method=1: 3 us";
  result.contenders = {ours, peer};
  const std::string passes = passes_table({&result, 1});
  EXPECT_NE(passes.find("kernel_a"), std::string::npos);
  EXPECT_NE(passes.find("2000"), std::string::npos) << passes;
  EXPECT_NE(passes.find("50%"), std::string::npos) << passes;
  // fft: 3e9 bytes at 4e12 and 4e9 operations at 1e13, of 2 ms; spread: 0.1 ms of memory, 0.6 ms of arithmetic, of 1 ms
  const std::string stages = stages_table({&result, 1});
  for (const char* words : {"750 us", "400 us", "100 us", "600 us", "38%", "60%"})
    EXPECT_NE(stages.find(words), std::string::npos) << words << stages;
  const std::string modes = modes_table({&result, 1});
  EXPECT_NE(modes.find("1.00 us / 3.00 us (3.00)"), std::string::npos) << modes;
  EXPECT_NE(modes.find("total, geometric mean 3.00 (1 problems)"), std::string::npos) << modes;
  EXPECT_NE(variants_text({&result, 1}).find("p: method=1: 3 us"), std::string::npos);
  EXPECT_EQ(passes_table({}), "");
  EXPECT_EQ(stages_table({}), "");
  EXPECT_EQ(modes_table({}), "");
}

TEST(BenchCommandDevice, WholeCommandRunsAndNothingIsLeftOut) {
  const test::ScratchFolder folder;
  const test::Finished done = test::run_program(
      {test::fourtune_program(), "bench", "--backend", "emulated", "--rounds", "1", "--peer", path_of("cufft"),
       "--peer", path_of("cufinufft_25"), "--csv", "bench.csv", "fft:type=c2c,n=8x4,prec=f32",
       "fft:type=c2c,n=17,prec=f32", "nufft:type=1,n=6x5,m=20,prec=f64,tol=1e-6"},
      folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  for (const char* words :
       {"peer cufft: cuFFT 12.0.4", "peer cufinufft: cuFINUFFT with the options of 2.5 or later",
        "cufft: cufftMakePlanMany64 fails with cuFFT's error 8", "total with transfers", "trials of a peer's variants"})
    EXPECT_NE(done.out.find(words), std::string::npos) << words << done.out;
  const std::string csv = test::read_text(folder / "bench.csv");
  for (const char* words : {"copy_bytes_per_second", "method=2, upsampfac=2", "emulated GPU"})
    EXPECT_NE(csv.find(words), std::string::npos) << words;
  EXPECT_EQ(
      test::run_program({test::fourtune_program(), "bench", "--backend", "nothing", "fft:type=c2c,n=8,prec=f32"}).code,
      1);
}

test::Finished suite(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  std::vector<std::string> all{test::fourtune_program(), "bench", "--backend", "emulated", "--rounds", "1"};
  all.insert(all.end(), words.begin(), words.end());
  return test::run_program(all, folder);
}

// The output from the first title on, without progress lines and the line that names the plot.
std::string tables(const std::string& out) {
  const std::size_t from = out.find("\nTable I"), to = out.find("\nplot: ");
  std::istringstream lines(out.substr(std::min(from, out.size()), to - from));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (line.find(":  GM") == line.npos) text += line + "\n";
  return text;
}

TEST(BenchSuites, CufinufftRunsItsVersionsOnTheEmulatorAndDrawsItsFigures) {
  if (!test::has_program("gnuplot")) GTEST_SKIP() << "no gnuplot";
  const test::ScratchFolder folder;
  const test::Finished done =
      suite({"--suite", "cufinufft", "--scale", "1e-6", "--filter", "n=8x8,m=64,prec=f32,tol=1e-2", "--peer",
             path_of("cufinufft_25"), "--csv", "suite.csv", "--plot", "suite.svg"},
            folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  for (const char* words :
       {"Figures 2 and 3", "Figures 4 and 5", "Figure 6", "Figure 7", "Table I", "Table II", "GM-sort as published",
        "SM as published", "SM, newer parts", "untuned", "cufinufft", "plot: "})
    EXPECT_NE(done.out.find(words), std::string::npos) << words << done.out;
  EXPECT_EQ(done.out.find("failed"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("WRONG"), std::string::npos) << done.out;
  // Repeats the same from the file only.
  const test::Finished again = suite({"--suite", "cufinufft", "--scale", "1e-6", "--filter",
                                      "n=8x8,m=64,prec=f32,tol=1e-2", "--from-csv", "suite.csv", "--plot", "again.svg"},
                                     folder.path());
  ASSERT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(tables(again.out), tables(done.out));
  for (const char* figure : {"again.svg", "suite.svg"})
    EXPECT_NE(test::read_text(folder / figure).find("<svg"), std::string::npos) << figure;
}

// As FINUFFT does in the paper: its run on the processor is another command's, and its CSV joins the device's figures.
TEST(BenchSuites, AProcessorsLibraryStandsInTheFiguresOfADevice) {
  const test::ScratchFolder folder;
  const std::vector<std::string> words{"--suite", "cufinufft", "--scale",
                                       "1e-6",    "--filter",  "n=8x8,m=64,prec=f32,tol=1e-2"};
  const auto bench = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return suite(all, folder.path());
  };
  // Without gnuplot the script stays, so that the test is the same everywhere.
  const auto script = [&](std::vector<std::string> more) {
    std::vector<std::string> all{test::fourtune_program(), "bench", "--rounds", "1", "--from-csv", "device.csv"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--plot", "figures.svg"});
    all.insert(all.end(), more.begin(), more.end());
    const test::Finished done = test::run_program(all, folder.path(), {{"PATH", folder.path().string()}});
    EXPECT_EQ(done.code, 0) << done.out << done.err;
    return done.out + test::read_text(folder / "figures.svg.gp");
  };
  std::vector<std::string> on_processor{test::fourtune_program(), "bench", "--backend", "cpu", "--threads", "1"};
  on_processor.insert(on_processor.end(), words.begin(), words.end());
  on_processor.insert(on_processor.end(),
                      {"--rounds", "1", "--peer", path_of("v26"), "--untuned-only", "--csv", "host.csv"});
  const test::Finished host = test::run_program(on_processor, folder.path());
  ASSERT_EQ(host.code, 0) << host.out << host.err;
  const test::Finished device = bench({"--peer", path_of("cufinufft_25"), "--untuned-only", "--csv", "device.csv"});
  ASSERT_EQ(device.code, 0) << device.out << device.err;
  const std::string with = script({"--baseline", "host.csv"});
  for (const char* name : {", 1 threads", "untuned", "cufinufft", "SM as published", "with threads: of --baseline"})
    EXPECT_NE(with.find(name), std::string::npos) << name << with;
  EXPECT_EQ(script({}).find("1 threads"), std::string::npos);
  // The library itself is no run of it.
  const test::Finished wrong = bench({"--baseline", path_of("v26")});
  EXPECT_EQ(wrong.code, 2) << wrong.out << wrong.err;
  EXPECT_NE(wrong.err.find("--baseline takes the CSV of a run"), std::string::npos) << wrong.err;
}

TEST(BenchDevices, SharedBatchesStandBesideOneDevice) {
  const test::ScratchFolder folder;
  ::setenv("FOURTUNE_EMULATED_DEVICES", "2", 1);
  const test::Finished done = suite({"fft:type=c2c,n=12x10,prec=f32,batch=4", "--devices", "0,1"}, folder.path());
  ::unsetenv("FOURTUNE_EMULATED_DEVICES");
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  const std::size_t table = done.out.find("one device");
  ASSERT_NE(table, std::string::npos) << done.out;
  EXPECT_NE(done.out.find("fft:type=c2c,n=12x10,prec=f32,batch=4", table), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("WRONG"), std::string::npos) << done.out;
  const test::Finished none = suite({"fft:type=c2c,n=12x10,prec=f32,batch=4", "--devices", "0,1"}, folder.path());
  EXPECT_NE((none.out + none.err).find("one device here"), std::string::npos) << none.out << none.err;
  const test::Finished wrong = suite({"--suite", "cufinufft", "--devices", "all"}, folder.path());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--devices: not with a suite"), std::string::npos) << wrong.err;
}

TEST(BenchSuites, EveryPeerMeetsTheProblemsOfItsKindAndNoOther) {
  const test::ScratchFolder folder;
  const test::Finished done =
      suite({"--suite", "cufinufft", "--scale", "1e-6", "--filter", "nufft:type=1,n=8x8,m=64,prec=f32,tol=1e-2",
             "--peer", path_of("cufft"), "--peer", path_of("cufinufft_25"), "--csv", "suite.csv"},
            folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  const CsvRun run = read_comparison_csv(folder / "suite.csv");
  ASSERT_FALSE(run.results.empty());
  for (const ProblemResult& result : run.results) {
    std::vector<std::string> peers;
    for (const ContenderResult& one : result.contenders)
      if (one.role == Role::peer) peers.push_back(one.name);
    EXPECT_EQ(peers, std::vector<std::string>{"cufinufft"}) << result.token;
  }
}

TEST(BenchSuites, Type3RunsOnADeviceAndTellsItsSpeedUpOverAnotherRun) {
  const test::ScratchFolder folder;
  const test::Finished done =
      suite({"--suite", "nufft-type3-gpu", "--scale", "1e-4", "--csv", "t3.csv", "--plot", "suite.svg"}, folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  for (const char* words : {"N = K^2", "step 1 spread", "untuned"})
    EXPECT_NE(done.out.find(words), std::string::npos) << words << done.out;
  const test::Finished again = suite({"--suite", "nufft-type3-gpu", "--scale", "1e-4", "--from-csv", "t3.csv",
                                      "--baseline", "t3.csv", "--plot", "again.svg"},
                                     folder.path());
  ASSERT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_NE(again.out.find("speed-up: the paper's"), std::string::npos);
  // Relative to itself every version has a speed-up of 1.
  EXPECT_TRUE(std::regex_search(again.out, std::regex("WRONG +[0-9.]+x +1\\.0x"))) << again.out;
}

// With a budget that is used up and kernels compiled beforehand, omitted problems are named, also in the file.
TEST(BenchSuites, WhatABudgetLeavesOutIsNamedAndKept) {
  const test::ScratchFolder folder;
  const test::Finished done =
      suite({"--suite", "cufinufft", "--scale", "1e-6", "--filter", "n=8x8,m=64,prec=f32,tol=1e-2", "--seconds", "1e-9",
             "--compile-first", "--csv", "none.csv"},
            folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_NE(done.out.find("compiled the kernels of"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("the budget of --seconds is spent"), std::string::npos) << done.out;
  EXPECT_NE(test::read_text(folder / "none.csv").find("the budget of --seconds is spent"), std::string::npos);
}

TEST(BenchSuites, InterleavedPlansTooLargeAreNamed) {
  const test::ScratchFolder folder;
  const test::Finished done = suite({"--suite", "fft3d-interleaved", "--scale", "1e-5"}, folder.path());
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  for (const char* plan :
       {"n=256x256x256,prec=f32 (4.1, corrected; 4.3.2, corrected)", "n=128x128x128,prec=f32 (A.1.4)",
        "n=512x512x512,prec=f32 (A.1.6; A.2.6)", "n=256x512x1024,prec=f32 (A.2.5, corrected)"})
    EXPECT_NE(done.out.find(std::string("left out by --scale or --filter: fft:type=c2c,") + plan), std::string::npos)
        << done.out;
}

TEST(BenchSuites, DigitReversalPutsEveryIndexWhereTheNotationLeavesIt) {
  // 6 = 2 * 3: k = k0 + 2 k1 lies at 3 k0 + k1; y = 4 in one radix is in order.
  const auto plan = generator::fft::parse_notation("{X(3,2,3,6,tw),Y(1,4,1,4,no-tw)}{X(2,3,1,3,no-tw)}");
  std::vector<std::complex<float>> values(24);
  for (int y = 0; y < 4; ++y)
    for (int k = 0; k < 6; ++k)
      values[6 * static_cast<std::size_t>(y) + 3 * static_cast<std::size_t>(k % 2) + static_cast<std::size_t>(k / 2)] =
          static_cast<float>(10 * y + k);
  digit_reversal(plan)(values.data());
  for (int y = 0; y < 4; ++y)
    for (int k = 0; k < 6; ++k)
      EXPECT_EQ(values[static_cast<std::size_t>(6 * y + k)].real(), static_cast<float>(10 * y + k));
}

TEST(BenchSeries, ScriptHoldsEveryCurveOfEveryPanelThatHasPoints) {
  const std::vector<Panel> panels{{"first", "x", "y", {{"a", 10, 20}, {"b", 1, 3}, {"a", 1, 2}}},
                                  {"empty", "x", "y", {}}};
  const std::string script = panels_gnuplot(panels, "it's.png");
  EXPECT_NE(script.find("1 2\n10 20\n\n\n1 3\n"), std::string::npos) << script;
  EXPECT_NE(script.find("index 1 with linespoints lc rgb '#000000' pt 5 dt 2 title 'b'"), std::string::npos) << script;
  EXPECT_EQ(script.find("empty"), std::string::npos);
  EXPECT_NE(script.find("set output 'it''s.png'"), std::string::npos);
  EXPECT_THROW(plot_panels(panels, "a.pdf"), UsageError);
}

TEST(BenchSeries, PagesHaveOneTopicAndSixPanelsAtMostAndLibrariesTheirColours) {
  std::vector<Panel> panels;
  for (int i = 0; i < 7; ++i)
    panels.push_back({"Figure 2: " + std::to_string(i), "x", "y", {{"cufinufft: method=1", 1, 2}, {"untuned", 1, 3}}});
  panels.push_back({"Figure 3: 2D", "x", "y", {{"untuned: sm", 1, 3}, {"cufinufft", 1, 2}}});
  const std::string script = panels_gnuplot(panels, "a.png");
  for (const char* page :
       {"size 1200,1188 noenhanced\nset output 'a.png'", "size 600,396 noenhanced\nset output 'a-2.png'",
        "size 600,396 noenhanced\nset output 'a-3.png'"})
    EXPECT_NE(script.find(page), std::string::npos) << page << script;
  EXPECT_EQ(script.find("a-4.png"), std::string::npos);
  EXPECT_NE(script.find("lc rgb '#d55e00' pt 4 dt 1 title 'cufinufft: method=1'"), std::string::npos) << script;
  EXPECT_NE(script.find("lc rgb '#d55e00' pt 5 dt 2 title 'cufinufft'"), std::string::npos) << script;
  EXPECT_NE(script.find("lc rgb '#0072b2' pt 4 dt 1 title 'untuned: sm'"), std::string::npos) << script;
}

}  // namespace
}  // namespace fourtune::tools
