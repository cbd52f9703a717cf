// Runs what `fourtune emit` writes: its kernels on the emulated device, and the rest of the file, compiled as it is, on
// top of tests/tools/emulated_cuda/cuda_runtime.h. Its main compares with direct sums.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/emulated/guarded_memory.h"
#include "runtime/backends/emulated/module.h"
#include "tests/support/command.h"
#include "tests/tools/emulated_cuda/cuda_runtime.h"

namespace fourtune::test {
namespace {

namespace emulated = runtime::emulated;

// The device of the running program.
struct Device {
  emulated::Engine engine{{}};
  std::deque<emulated::GuardedMemory> memory;  // lives as long as the engine
  std::vector<generator::KernelSource> sources;
  std::vector<std::unique_ptr<emulated::Module>> modules;
  std::map<const void*, std::size_t> kernels;
  std::map<const void*, int> allowed_shared;
  std::map<std::string, int> launches;  // by entry
  int freed = 0;
};
Device* device = nullptr;

void launch(const cudaLaunchConfig_t& config, const void* kernel, void** arguments) {
  const std::size_t i = device->kernels.at(kernel);
  generator::KernelSource source = device->sources[i];
  const auto extent = [](const dim3& of) { return generator::Extent3{of.x, of.y, of.z}; };
  source.block = extent(config.blockDim);
  if (config.numAttrs > 0) source.cluster = extent(config.attrs[0].val.clusterDim);
  source.shared_bytes = static_cast<std::uint32_t>(config.dynamicSmemBytes);
  const int allowed = std::max(48 * 1024, device->allowed_shared[kernel]);
  EXPECT_LE(static_cast<int>(source.shared_bytes), allowed) << source.entry;
  ++device->launches[source.entry];
  device->engine.launch(*device->modules[i], source, extent(config.gridDim), arguments);
}

const EmulatedCuda kFunctions{[](std::size_t bytes) -> void* {
                                device->engine.attach(device->memory.emplace_back(bytes, "memory"), false);
                                return device->memory.back().data();
                              },
                              [](void*) { ++device->freed; },
                              [](const void* kernel, int bytes) { device->allowed_shared[kernel] = bytes; }, launch};

class EmulatedEmit : public CommandTest {
 protected:
  EmulatedEmit() : CommandTest("emit") {}

  // Cuts the kernels out of an emitted file, and leaves names in their place.
  std::string host_of(const std::string& file, std::vector<generator::KernelSource>& kernels) {
    std::string host, names = "extern \"C\" const void* const emitted_kernels[] = {";
    std::size_t done = 0;
    for (;; ++done) {
      const std::string begin = "\nnamespace kernel" + std::to_string(kernels.size()) + " {\n",
                        end = "}  // namespace kernel" + std::to_string(kernels.size()) + "\n";
      const std::size_t from = file.find(begin, done), to = file.find(end, from);
      if (from == std::string::npos || to == std::string::npos) break;
      const std::size_t number = kernels.size(),
                        named = file.find("::", file.find("kernel" + std::to_string(number) + "::"));
      generator::KernelSource kernel;
      kernel.text = file.substr(from + begin.size(), to - from - begin.size());
      kernel.entry = file.substr(named + 2, file.find(',', named) - named - 2);
      host += file.substr(done, from - done) + begin + "char " + kernel.entry + "[1];\n}\n";
      names += "kernel" + std::to_string(number) + "::" + kernel.entry + ", ";
      kernels.push_back(std::move(kernel));
      done = to + end.size() - 1;
    }
    return host + file.substr(done) + "\nextern \"C\" EmulatedCuda emulated_cuda;\nEmulatedCuda emulated_cuda;\n" +
           names + "nullptr};\n";
  }

  // Emits the problem, compiles it and runs its main with the arguments, or another main(); returns the exit code.
  int run_emitted(const std::vector<std::string>& words, std::vector<std::string> arguments,
                  const std::string& other_main = "") {
    const Finished emitted = run(words);
    EXPECT_EQ(emitted.code, 0) << emitted.err;
    auto on = std::make_unique<Device>();
    const std::string host = host_of(emitted.out, on->sources) + other_main;
    write_text(folder / "host.cpp", host);
    const Finished compiled =
        run_program({"g++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-Dmain=emitted_main",
                     other_main.empty() ? "-DMAIN" : "-DFOURTUNE_NO_MAIN", "-I",
                     std::string(FOURTUNE_SOURCE_DIR) + "/tests/tools/emulated_cuda", "host.cpp", "-o", "host.so"},
                    folder.path());
    EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 4000);
    if (emitted.code != 0 || compiled.code != 0) return -1;
    void* const library = ::dlopen((folder / "host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    if (!library) return -1;
    on->modules = emulated::compile_modules(on->sources, {});
    const auto* names = static_cast<const void* const*>(::dlsym(library, "emitted_kernels"));
    for (std::size_t i = 0; i < on->sources.size(); ++i) on->kernels[names[i]] = i;
    *static_cast<EmulatedCuda*>(::dlsym(library, "emulated_cuda")) = kFunctions;
    arguments.insert(arguments.begin(), "emitted");
    std::vector<char*> pointers;
    for (std::string& word : arguments) pointers.push_back(word.data());
    auto* const main = reinterpret_cast<int (*)(int, char**)>(::dlsym(library, "_Z12emitted_mainiPPc"));
    auto* const plain_main = reinterpret_cast<int (*)()>(::dlsym(library, "_Z12emitted_mainv"));  // of an FFT
    EXPECT_NE(main != nullptr, plain_main != nullptr);
    device = on.get();
    testing::internal::CaptureStdout();
    const int code = main ? main(static_cast<int>(pointers.size()), pointers.data()) : plain_main ? plain_main() : -1;
    out = testing::internal::GetCapturedStdout();
    launches = on->launches;
    allocated = static_cast<int>(on->memory.size());
    freed = on->freed;
    device = nullptr;
    ::dlclose(library);
    return code;
  }

  // Whether a nonuniform transform's program ends with success and has given back all memory.
  void expect_right(const std::vector<std::string>& words, const std::vector<std::string>& arguments) {
    EXPECT_EQ(run_emitted(words, arguments), 0) << out;
    EXPECT_EQ(freed, allocated);
  }

  // Whether an FFT's program, which leaves its memory to the end of the process, finds its samples right.
  void expect_right_fft(const std::vector<std::string>& words) {
    EXPECT_EQ(run_emitted(words, {}), 0) << out;
    EXPECT_NE(out.find("  time 1.0000 ms (median of 20)  "), std::string::npos) << out;
    EXPECT_EQ(out.substr(std::max<std::size_t>(out.size(), 7) - 7), "\nright\n") << out;
  }

  std::string out;
  std::map<std::string, int> launches;
  int allocated = 0, freed = 0;
};

// A batch whose last chunk is smaller, and points that crowd a few bins.
TEST_F(EmulatedEmit, Type1IsRightAlsoWithCrowdedBinsAndASmallerChunk) {
  expect_right({"nufft:type=1,n=64x64,m=3000,prec=f32,tol=1e-3,batch=3", "--plan",
                "cuda;window=pswf(sigma=2,width=5,fine=128x128);"
                "sort=bins(bin=2x2,placement=two_level,segment=512);spread=tile_atomic(warps=2);"
                "interp=points(lanes=1);fft=plain;chunk=2"},
               {"cluster", "0"});
  EXPECT_NE(out.find("right"), std::string::npos) << out;
  EXPECT_EQ(launches.count("nufft_large_place_2d_f32_w5"), 1u);
}

TEST_F(EmulatedEmit, Type2IsRight) {
  expect_right({"nufft:type=2,n=12x10x9,m=700,prec=f64,tol=1e-9,sign=-1"}, {"launches", "1"});
  for (const char* words :
       {"sort", "fft", "interpolate", "nufft_interpolate", "GB/s", "set_points", "    1.0000 ms   "})
    EXPECT_NE(out.find(words), std::string::npos) << out;
}

// One file a test: the programs have one name, under which they stay loaded.
constexpr const char* kPublished = "nufft:type=1,n=20x14,m=900,prec=f32,tol=1e-4,batch=2";
const std::string published_window = "cuda;window=es(sigma=2,width=5,fine=40x28,beta=11.5);";

TEST_F(EmulatedEmit, GmAsPublishedIsRight) {
  expect_right({kPublished, "--plan", published_window + "sort=none;spread=gm;interp=gm;fft=plain;chunk=2"}, {"0"});
  EXPECT_EQ(launches.count("nufft_spread_gm_2d_f32_w5"), 1u);
}

TEST_F(EmulatedEmit, SmAsPublishedIsRight) {
  expect_right({kPublished, "--plan",
                published_window + "sort=bins(bin=32x32,order=bins,placement=index,cap=100);spread=sm;"
                                   "interp=gm_sort;fft=plain;chunk=1"},
               {"cluster", "0"});
  EXPECT_EQ(launches.count("nufft_spread_sm_2d_f32_w5"), 1u);
}

// Both sides are sorted by kernels of one name.
TEST_F(EmulatedEmit, Type3IsRight) {
  expect_right({"nufft:type=3,dim=2,m=500,k=400,prec=f32,tol=1e-4,extent=20x30"}, {"0"});
  EXPECT_NE(out.find("right"), std::string::npos) << out;
}

// The file as a part of another program: whose times are told, and which points are refused.
TEST_F(EmulatedEmit, TransformOfAnotherProgramTellsItsTimesAndRefusesPoints) {
  EXPECT_EQ(run_emitted({"nufft:type=3,dim=1,m=50,k=40,prec=f64,tol=1e-4,extent=20"}, {}, R"(
int main() {
  std::vector<Real> x(kPoints, Real(0.5)), s(kResults, Real(0.5));
  std::vector<const Real*> points(6, nullptr);
  Real* const there = static_cast<Real*>(device_memory(sizeof(Real) * kPoints));
  Real* const targets = static_cast<Real*>(device_memory(sizeof(Real) * kResults));
  points[0] = there, points[3] = targets;
  cudaMemcpy(there, x.data(), sizeof(Real) * kPoints, cudaMemcpyHostToDevice);
  cudaMemcpy(targets, s.data(), sizeof(Real) * kResults, cudaMemcpyHostToDevice);
  auto* const values = static_cast<std::complex<Real>*>(device_memory(16 * kPoints));
  auto* const results = static_cast<std::complex<Real>*>(device_memory(16 * kResults));
  cudaMemset(values, 0, 16 * kPoints);
  Transform transform(true);
  transform.set_points(points);
  const std::size_t launches = transform.times().size();
  transform.set_points(points);
  transform.execute(values, results);
  const std::size_t both = transform.times().size();
  transform.execute(values, results);
  transform.set_points(points);  // times begin here
  std::printf("%d %d %d\n", int(launches > 0), int(both > launches), int(transform.times().size() == launches));
  for (const double bad : {1000.0, std::nan("")}) {
    x[7] = bad;
    cudaMemcpy(there, x.data(), sizeof(Real) * kPoints, cudaMemcpyHostToDevice);
    try {
      transform.set_points(points);
    } catch (const std::exception& error) {
      std::printf("%s\n", error.what());
    }
  }
  return 5;
}
)"),
            5);
  EXPECT_EQ(out.rfind("1 1 1\nx lies from 0.500000 to 1000.000000, but this file was made for ", 0), 0u) << out;
  EXPECT_NE(out.find("\nx[7] is not finite\n"), std::string::npos) << out;
}

// Rows and columns in one kernel.
TEST_F(EmulatedEmit, FftOfTwoDimensionsIsRight) {
  expect_right_fft({"fft:type=c2c,n=30x28,prec=f32,batch=3"});
  EXPECT_NE(out.find("fft:type=c2c,n=30x28,prec=f32,batch=3 cuda;fft=plain\n"), std::string::npos) << out;
}

// Several kernels with a workspace and tables.
TEST_F(EmulatedEmit, FftOfAPrimeLengthIsRight) {
  expect_right_fft({"fft:type=c2c,n=8209,prec=f64,batch=2"});
  EXPECT_EQ(launches.size(), 3u);
}

// Results lie in the order of their digits. One launch that is compared, and 20 that are timed.
TEST_F(EmulatedEmit, FftOfAPlanWithReversedDigitsIsRight) {
  expect_right_fft({"{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}", "--sign", "1", "--batch", "2"});
  EXPECT_EQ(launches, (std::map<std::string, int>{{"ft_1b_f32", 21}}));
}

}  // namespace
}  // namespace fourtune::test
