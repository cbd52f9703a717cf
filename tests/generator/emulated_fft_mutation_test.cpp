// Injects faults into emitted FFT kernels, one at a time. The emulator must detect each one, by a wrong result in some
// order of threads and copies, or by a report.
#include <gtest/gtest.h>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/fft/geometry.h"
#include "tests/generator/fft_reference.h"

namespace fourtune::test {
namespace {

using namespace generator::fft;
using generator::GpuProgram;

struct Kind {
  const char* name;
  const char* plan;  // empty: 67 values, convolved in a tile that stays in shared memory; r2c: so for 134 real ones
  std::int64_t batch;
  std::vector<std::string> waits;  // the statements that order threads and copies in it
};
const Kind kKinds[] = {
    {"shared",
     "{X(16,4,16,64,tw),X(16,4,4,16,tw),X(16,4,1,4,no-tw)}[threads=64,tile=1x4,parts=apart]:order=natural",
     4,
     {"__syncthreads();"}},
    {"swizzled",
     "{X(16,4,16,64,tw),X(16,4,4,16,tw),X(16,4,1,4,no-tw)}[threads=64,tile=1x4,banks=swizzle]:order=natural",
     4,
     {"__syncthreads();"}},
    {"warp", "{X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1x8,parts=apart]:order=natural", 16, {"__syncwarp();"}},
    {"cluster",
     "{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw),X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1x1,parts=apart,cluster=4]:"
     "order=natural",
     1,
     {"dev_cluster_arrive();", "dev_cluster_wait();", "dev_cluster_sync();", "__syncthreads();", "__syncwarp();"}},
    {"bulk",
     "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,load=bulk,pipeline=1]:order=natural",
     32,
     {"dev_mbarrier_init(arrived);", "dev_mbarrier_wait(arrived, parity);", "__syncthreads();"}},
    {"bulk pipeline",
     "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,load=bulk,pipeline=2]:order=natural",
     32,
     {"dev_mbarrier_init(arrived + t);", "dev_mbarrier_wait(arrived + slot, parity);", "__syncthreads();"}},
    {"async",
     "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,load=async,pipeline=1]:order=natural",
     32,
     {"dev_async_wait<0>();", "dev_async_commit();", "__syncthreads();"}},
    {"async pipeline",
     "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,load=async,pipeline=3]:order=natural",
     64,
     {"dev_async_wait<2>();", "dev_async_commit();", "__syncthreads();"}},
    {"resident", "", 5, {"__syncthreads();"}},
    {"half lines", "r2c", 5, {"__syncthreads();"}},
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

struct Subject {
  GpuProgram program;
  EmitOptions options;
  std::size_t begin = 0;  // start of the kernel's text, after the prelude
};

Subject subject(const Kind& kind) {
  Subject out;
  out.options.batch = kind.batch;
  out.options.device.multiprocessors = 2;  // persistent blocks process several tiles
  const bool real = std::string(kind.plan) == "r2c";
  if (*kind.plan && !real) {
    const FftPlan plan = parse_fft_plan(kind.plan);
    out.options.n = lengths(plan);
    out.options.device.threads_per_multiprocessor = plan.kernels[0].with.threads;
    out.program = emit_program(plan, out.options);
  } else {
    out.options.n = {real ? 134 : 67, 1, 1};
    if (real) out.options.type = FftType::r2c;
    out.program = emit_any_size(out.options);
  }
  const std::string& text = out.program.kernels[0].text;
  const std::size_t fetch = text.find("// Starts the copies");
  out.begin = fetch != std::string::npos ? fetch : text.rfind("extern \"C\"");
  return out;
}

// The first wrong result is enough, so most faults need no checked kernel compiled.
bool seen(const GpuProgram& broken, const EmitOptions& o) {
  try {
    return !(every_program_error(broken, o, true, {}, allowed(o)) <= allowed(o));
  } catch (const runtime::emulated::KernelFault&) {
    return true;
  }
}

// Replaces each occurrence of `what` in the kernel's text, one at a time.
int mutate(const Subject& subject, const std::string& what, const std::string& with, const std::string& name) {
  int count = 0;
  const std::string& text = subject.program.kernels[0].text;
  for (std::size_t at = subject.begin; (at = text.find(what, at)) != std::string::npos; at += what.size(), ++count) {
    GpuProgram broken = subject.program;
    broken.kernels[0].text.replace(at, what.size(), with);
    EXPECT_TRUE(seen(broken, subject.options))
        << name << ": " << what << " number " << count << " of " << text.substr(at, 200);
  }
  return count;
}

class EmulatedFftMutation : public ::testing::TestWithParam<Kind> {};

TEST_P(EmulatedFftMutation, NoWaitIsSuperfluous) {
  const Subject s = subject(GetParam());
  ASSERT_FALSE(seen(s.program, s.options));
  for (const std::string& wait : GetParam().waits) EXPECT_GE(mutate(s, wait, ";", GetParam().name), 1) << wait;
}

// One row is missing, so the last values of a tile have no place.
TEST_P(EmulatedFftMutation, SharedMemoryIsNoRowTooLarge) {
  Subject s = subject(GetParam());
  s.program.kernels[0].shared_bytes -= 256;
  EXPECT_TRUE(seen(s.program, s.options));
}

TEST_P(EmulatedFftMutation, IndicesPastTheEnd) {
  const Subject s = subject(GetParam());
  EXPECT_EQ(mutate(s, " to = out", " to = 64 + out", "store"), 1);
  EXPECT_EQ(mutate(s, " from = in", " from = 64 + in", "load"), 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EmulatedFftMutation, ::testing::ValuesIn(kKinds), [](const auto& i) {
  std::string name = i.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

// One store to shared memory is left out, so its value is never written.
TEST(EmulatedFftMutation, UninitialisedSharedMemory) {
  const Subject s = subject(kKinds[0]);
  const std::string& text = s.program.kernels[0].text;
  const std::size_t exchange = text.find("real* p = shared + (", s.begin), at = text.find("p[0] = x[0];", exchange);
  ASSERT_NE(at, std::string::npos);
  GpuProgram broken = s.program;
  broken.kernels[0].text.replace(at, 12, ";");
  EXPECT_TRUE(seen(broken, s.options));
}

}  // namespace
}  // namespace fourtune::test
