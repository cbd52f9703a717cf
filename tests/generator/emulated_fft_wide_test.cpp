// Transforms of arrays that reach beyond 2^31 elements: a 32-bit index anywhere in the computation of an address would
// read or write at a wrong place. The arrays are reserved address space, where only touched pages take memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/fft/geometry.h"
#include "runtime/backends/emulated/engine.h"
#include "runtime/backends/gpu/launch_arguments.h"
#include "tests/generator/fft_reference.h"

namespace fourtune::test {
namespace {

using namespace generator::fft;
using generator::BufferRef;
using runtime::emulated::GuardedMemory;
using Value = std::complex<float>;

class AddressSpace {
 public:
  explicit AddressSpace(std::int64_t elements) : bytes_(static_cast<std::size_t>(elements) * sizeof(Value)) {
    at_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~AddressSpace() {
    if (there()) ::munmap(at_, bytes_);
  }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  bool there() const { return at_ != MAP_FAILED; }
  Value* data() const { return static_cast<Value*>(at_); }

 private:
  std::size_t bytes_;
  void* at_;
};

void run(const generator::GpuProgram& program, void* first, void* second) {
  std::vector<GuardedMemory> workspaces, constants;
  for (const std::int64_t bytes : program.workspace_bytes) workspaces.emplace_back(static_cast<std::size_t>(bytes));
  for (const auto& table : program.constants) {
    constants.emplace_back(table.size());
    std::copy(table.begin(), table.end(), constants.back().data());
  }
  runtime::emulated::Engine engine({});
  for (const generator::Launch& launch : program.launches) {
    const generator::KernelSource& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
    const auto module = runtime::emulated::compile_modules({&kernel, 1}, {});
    runtime::gpu::LaunchArguments arguments(launch, [&](const BufferRef& ref) {
      return (ref.where == BufferRef::Where::workspace ? workspaces : constants)[static_cast<std::size_t>(ref.index)]
          .data();
    });
    arguments.set_arrays(first, second);
    engine.launch(*module.front(), kernel, launch.grid, arguments.pointers().data());
  }
}

double error_of(const generator::GpuProgram& program, const EmitOptions& o, const AddressSpace& in,
                const AddressSpace& out) {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const ArrayShape from = shape_of(o, true), to = shape_of(o, false);
  std::vector<Wide> full;
  for_elements(from, o.batch, [&](auto, auto, std::int64_t at) {
    full.emplace_back(in.data()[at] = {uniform(random), uniform(random)});
  });
  run(program, in.data(), out.data());
  const std::vector<Wide> want = direct_dft(std::move(full), o.n, o.sign);
  long double error = 0, norm = 0;
  std::size_t i = 0;
  for_elements(to, o.batch, [&](auto, auto, std::int64_t at) {
    error += std::norm(Wide(out.data()[at]) - want[i]);
    norm += std::norm(want[i++]);
  });
  return static_cast<double>(std::sqrt(error / norm));
}

// The same with 32-bit offsets fails.
bool narrow_fails(generator::GpuProgram program, const EmitOptions& o, const AddressSpace& in,
                  const AddressSpace& out) {
  const std::string offset = "p = from + (";
  std::string& text = program.kernels[0].text;
  const std::size_t at = text.find(offset);
  if (at == std::string::npos) return false;
  text.insert(at + offset.size() - 1, "int");
  try {
    return !(error_of(program, o, in, out) < 0.1);
  } catch (const runtime::emulated::KernelFault&) {
    return true;
  }
}

constexpr std::int64_t kPast = std::int64_t{1} << 31;  // elements

struct Wideness {
  const char* plan;  // null: emit_any_size
  Lengths n;
  std::int64_t batch;
  ArrayLayout in, out;
};
// Large distances between transforms of a batch, planes, lines, and the values of a line; by codelets and by a
// convolution.
const Wideness kCases[] = {
    {nullptr, {16, 1, 1}, 3, {{1, 0, 0}, kPast + 7}, {{1, 0, 0}, kPast + 40}},
    {nullptr, {8, 4, 3}, 1, {{1, 8, kPast + 1}, 0}, {{1, 8, kPast / 2 + 9}, 0}},
    {nullptr, {8, 3, 2}, 2, {{1, kPast + 3, 8}, 32}, {{1, kPast / 2 + 11, 8}, 16}},
    {nullptr, {4, 3, 1}, 1, {{kPast / 2 + 5, 1, 0}, 0}, {{kPast / 2 + 1, 4, 0}, 0}},
    {nullptr, {67, 1, 1}, 2, {{1, 0, 0}, kPast + 99}, {{3, 0, 0}, kPast + 1}},
    {"{X(4,4,4,16,tw),X(4,4,1,4,no-tw)}[threads=32,tile=1x8,exchange=shuffle]:order=natural",
     {16, 1, 1},
     3,
     {{1, 0, 0}, kPast + 1},
     {{1, 0, 0}, kPast + 5}},
};

TEST(EmulatedFftWide, ArraysReachPastTwoToThe31Elements) {
  const std::int64_t most = 3 * kPast;  // 48 GiB
  for (const Wideness& c : kCases) {
    const AddressSpace in(most), out(most);
    if (!in.there() || !out.there()) GTEST_SKIP() << "NOT TESTED: no 96 GiB of address space to be had";
    SCOPED_TRACE(::testing::Message() << c.n[0] << "x" << c.n[1] << "x" << c.n[2] << " " << (c.plan ? c.plan : ""));
    EmitOptions o;
    o.n = c.n;
    o.batch = c.batch;
    o.input = c.in, o.output = c.out;
    ASSERT_GT(shape_of(o, true).elements, kPast);
    ASSERT_LE(std::max(shape_of(o, true).elements, shape_of(o, false).elements), most);
    const auto program = c.plan ? emit_program(parse_fft_plan(c.plan), o) : emit_any_size(o);
    EXPECT_LT(error_of(program, o, in, out), 2 * allowed(o));
    if (&c == kCases) {
      EXPECT_TRUE(narrow_fails(program, o, in, out));
    }
  }
}

}  // namespace
}  // namespace fourtune::test
