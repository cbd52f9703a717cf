#include "generator/planner/gpu_fft/known_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/emit/pass_memory.h"
#include "generator/plan/fft/geometry.h"

namespace fourtune::generator::fft {
namespace {

// The use of the arrays for which a plan was measured: the whole array, output cut, or input padded along every
// dimension.
enum class Use { whole, cut, pad };

struct Winner {
  Lengths n;
  Precision precision;
  Use use;
  const char* plan;
  FftType type = FftType::c2c;
  std::int64_t least_batch = 1;
};

constexpr Precision f32 = Precision::f32, f64 = Precision::f64;

// Winners by the medians of interleaved rounds on an H200; docs/design/gpu-fft.md has the figures. If a size appears
// more than once, the first plan that the device and the arrays allow is used.
const Winner winners[] = {
    // Found by the tuner.
    {{1024, 256, 256},
     f32,
     Use::whole,
     "{Z(16,16,16,256,tw),X(32,32,32,1024,tw),X(32,32,1,32,no-tw)}[threads=512,tile=1,parts=apart,store=grouped,to="
     "work,load=bulk,pipeline=1]{Z(16,16,1,16,no-tw),Y(16,16,16,256,tw),Y(16,16,1,16,no-tw)}[threads=1024,tile=16,"
     "cluster=4]:order=natural"},
    {{1048576, 1, 1},
     f32,
     Use::whole,
     "{X(32768,32,32768,1048576,tw),X(32768,32,1024,32768,tw)}[threads=512,tile=16,store=grouped,to=work]{X(32768,32,"
     "32,1024,tw),X(32768,32,1,32,no-tw)}[threads=512,tile=16,parts=apart]:order=natural",
     FftType::c2c,
     16},
    {{128, 1024, 1024},
     f32,
     Use::whole,
     "{Y(64,16,64,1024,tw),Z(128,8,128,1024,tw)}[threads=128,tile=32,store=sorted]{Y(64,16,4,64,tw),Y(256,4,1,4,no-tw),"
     "X(16,8,16,128,tw),X(8,16,1,16,no-tw)}[threads=256,tile=1]{Z(128,8,16,128,tw),Z(64,16,1,16,no-tw)}[threads=256,"
     "tile=32]:order=natural"},
    {{128, 512, 1024},
     f32,
     Use::whole,
     "{Y(32,16,32,512,tw),Y(16,32,1,32,no-tw),Z(128,8,128,1024,tw)}[threads=512,tile=16,store=grouped,to=work,cluster="
     "4]{X(4,32,4,128,tw),X(32,4,1,4,no-tw),Z(128,8,16,128,tw),Z(64,16,1,16,no-tw)}[threads=512,tile=1,parts=apart,"
     "load=bulk,pipeline=1,blocks=yxz]:order=natural"},
    {{128, 512, 512},
     f32,
     Use::whole,
     "{Z(16,32,16,512,tw),Y(128,4,128,512,tw),X(16,8,16,128,tw),X(8,16,1,16,no-tw)}[threads=512,tile=1,store=grouped,"
     "to=work]{Y(64,8,16,128,tw),Y(32,16,1,16,no-tw),Z(32,16,1,16,no-tw)}[threads=256,tile=8,parts=apart,load=bulk,"
     "pipeline=1]:order=natural"},
    {{128, 8192, 4},
     f32,
     Use::whole,
     "{Y(512,16,512,8192,tw),Y(2048,4,128,512,tw),X(16,8,16,128,tw),X(8,16,1,16,no-tw)}[threads=256,tile=1,store="
     "grouped,to=work,blocks=xzy]{Z(1,4,1,4,no-tw),Y(1024,8,16,128,tw),Y(512,16,1,16,no-tw)}[threads=256,tile=16,parts="
     "apart,load=bulk,pipeline=1]:order=natural"},
    {{1920, 1080, 1},
     f32,
     Use::whole,
     "{Y(45,24,45,1080,tw),Y(216,5,9,45,tw)}[threads=192,tile=32,store=grouped,to=work]{Y(120,9,1,9,no-tw),X(384,5,384,"
     "1920,tw),X(120,16,24,384,tw),X(80,24,1,24,no-tw)}[threads=384,tile=1]:order=natural"},
    {{243, 243, 243},
     f64,
     Use::whole,
     "{Y(27,9,27,243,tw),Z(27,9,27,243,tw),Z(81,3,9,27,tw),Z(27,9,1,9,no-tw)}[threads=256,tile=4,store=sorted]{X(9,27,"
     "9,243,tw),X(27,9,1,9,no-tw),Y(9,27,1,27,no-tw)}[threads=256,tile=1,load=bulk,pipeline=1]:order=natural,prec=f64"},
    {{256, 128, 128},
     f32,
     Use::whole,
     "{Y(4,32,4,128,tw),Z(16,8,16,128,tw)}[threads=256,tile=32,parts=apart,store=grouped,to=work,registers=80]{Z(8,16,"
     "1,16,no-tw),Y(32,4,1,4,no-tw),X(32,8,32,256,tw),X(8,32,1,32,no-tw)}[threads=512,tile=1,parts=apart,load=bulk,"
     "pipeline=1]:order=natural"},
    {{256, 512, 1024},
     f32,
     Use::whole,
     "{X(8,32,8,256,tw),X(32,8,1,8,no-tw),Y(128,4,128,512,tw),Z(64,16,64,1024,tw)}[threads=512,tile=1,parts=apart,"
     "store=sorted,load=bulk,pipeline=1]{Z(64,16,4,64,tw),Z(256,4,1,4,no-tw),Y(128,4,32,128,tw),Y(16,32,1,32,no-tw)}["
     "threads=512,tile=16,cluster=8]:order=natural"},
    {{256, 512, 512},
     f32,
     Use::whole,
     "{X(8,32,8,256,tw),X(32,8,1,8,no-tw),Y(128,4,128,512,tw),Z(32,16,32,512,tw)}[threads=512,tile=1,parts=apart,store="
     "sorted,load=bulk,pipeline=1]{Z(16,32,1,32,no-tw),Y(64,8,16,128,tw),Y(32,16,1,16,no-tw)}[threads=512,tile=16,"
     "cluster=4]:order=natural"},
    {{320, 320, 320},
     f64,
     Use::whole,
     "{Z(20,16,20,320,tw),Z(80,4,5,20,tw),Y(80,4,80,320,tw),Y(20,16,5,80,tw)}[threads=512,tile=8,store=sorted,cluster="
     "4]{Z(64,5,1,5,no-tw),Y(64,5,1,5,no-tw),X(80,4,80,320,tw),X(64,5,16,80,tw),X(20,16,1,16,no-tw)}[threads=256,tile="
     "1,parts=apart,load=bulk,pipeline=1]:order=natural,prec=f64"},
    {{8192, 8192, 1},
     f32,
     Use::whole,
     "{Y(256,32,256,8192,tw),Y(256,32,8,256,tw)}[threads=512,tile=16,store=sorted]{Y(1024,8,1,8,no-tw),X(1024,8,1024,"
     "8192,tw),X(256,32,32,1024,tw),X(256,32,1,32,no-tw)}[threads=128,tile=1,parts=apart,cluster=8,registers=168]:"
     "order=natural"},
    {{96, 96, 96},
     f64,
     Use::whole,
     "{Y(24,4,24,96,tw),Y(16,6,4,24,tw),Z(24,4,24,96,tw)}[threads=128,tile=16,store=sorted,blocks=zyx]{Z(4,24,1,24,no-"
     "tw),Y(24,4,1,4,no-tw),X(24,4,24,96,tw),X(4,24,1,24,no-tw)}[threads=384,tile=1]:order=natural,prec=f64"},
    {{256, 256, 256},
     f32,
     Use::whole,
     "{Y(16,16,16,256,tw),Y(16,16,1,16,no-tw)}[threads=256,tile=32,store=sorted,to=work]{Z(16,16,16,256,tw),Z(16,16,1,"
     "16,no-tw)}[threads=256,tile=16,store=sorted,to=work]{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=128,tile="
     "1x8,store=sorted]:order=natural",
     FftType::c2r},
    {{256, 256, 256},
     f32,
     Use::whole,
     "{X(16,16,16,256,tw),X(16,16,1,16,no-tw),Y(32,8,32,256,tw),Z(32,8,32,256,tw)}[threads=512,tile=1,store=sorted,to="
     "work]{Y(8,32,1,32,no-tw),Z(8,32,1,32,no-tw)}[threads=512,tile=16,parts=apart]:order=natural",
     FftType::r2c},
    {{256, 256, 256},
     f32,
     Use::whole,
     "{Z(32,8,32,256,tw),Y(64,4,64,256,tw),Y(8,32,2,64,tw)}[threads=512,tile=16,parts=apart,store=sorted]{X(16,16,16,"
     "256,tw),X(16,16,1,16,no-tw),Y(128,2,1,2,no-tw),Z(8,32,1,32,no-tw)}[threads=512,tile=1,parts=apart,load=bulk,"
     "pipeline=1]:order=natural"},
    {{512, 512, 512},
     f32,
     Use::whole,
     "{X(32,16,32,512,tw),X(16,32,1,32,no-tw),Z(16,32,16,512,tw)}[threads=512,tile=1,parts=apart,store=grouped,to=work,"
     "load=bulk,pipeline=1]{Z(32,16,1,16,no-tw),Y(16,32,16,512,tw),Y(32,16,1,16,no-tw)}[threads=512,tile=16,cluster=8]:"
     "order=natural"},
    {{128, 128, 128},
     f64,
     Use::whole,
     "{Y(8,16,8,128,tw),X(8,16,8,128,tw),X(16,8,1,8,no-tw),Y(64,2,4,8,tw)}[threads=256,tile=1,to=work,registers=128]{Y("
     "32,4,1,4,no-tw),Z(32,4,32,128,tw),Z(32,4,8,32,tw),Z(16,8,1,8,no-tw)}[threads=256,tile=8,registers=80]:order="
     "natural,prec=f64"},
    {{256, 256, 256},
     f64,
     Use::whole,
     "{X(16,16,16,256,tw),X(16,16,1,16,no-tw),Z(32,8,32,256,tw),Z(64,4,8,32,tw)}[threads=512,tile=1,parts=apart,banks="
     "swizzle,store=grouped,to=work,blocks=yzx]{Y(16,16,16,256,tw),Y(16,16,1,16,no-tw),Z(32,8,1,8,no-tw)}[threads=512,"
     "tile=4,parts=apart,load=bulk,pipeline=1]:order=natural,prec=f64"},
    {{512, 512, 512},
     f64,
     Use::whole,
     "{Y(64,8,64,512,tw),Y(64,8,8,64,tw),Y(64,8,1,8,no-tw),Z(32,16,32,512,tw)}[threads=512,tile=8,store=grouped,to="
     "work,cluster=8]{X(64,8,64,512,tw),X(32,16,4,64,tw),X(128,4,1,4,no-tw),Z(128,4,8,32,tw),Z(64,8,1,8,no-tw)}["
     "threads=512,tile=1,cluster=2]:order=natural,prec=f64"},
    {{4096, 4096, 1},
     f32,
     Use::whole,
     "{X(256,16,256,4096,tw),X(256,16,16,256,tw),X(256,16,1,16,no-tw),Y(2048,2,2048,4096,tw)}[threads=256,tile=1,parts="
     "apart,store=grouped,to=work]{Y(512,8,256,2048,tw),Y(256,16,16,256,tw),Y(256,16,1,16,no-tw)}[threads=512,tile=8,"
     "parts=apart,twiddle=computed,load=bulk,pipeline=1]:order=natural"},
    // Found by hand.
    {{128, 128, 128},
     f32,
     Use::whole,
     "{Y(8,16,8,128,tw),X(8,16,8,128,tw),X(16,8,1,8,no-tw),Y(64,2,4,8,tw)}[threads=256,tile=1x1x1,to=work,registers="
     "64]{Y(32,4,1,4,no-tw),Z(32,4,32,128,tw),Z(32,4,8,32,tw),Z(16,8,1,8,no-tw)}[threads=256,tile=8x1x1,registers=64]:"
     "order=natural"},
    {{256, 256, 256},
     f32,
     Use::whole,
     "{Y(16,16,16,256,tw),X(128,2,128,256,tw),X(16,16,8,128,tw),X(32,8,1,8,no-tw),Y(64,4,4,16,tw)}[threads=512,tile="
     "1x1x1,parts=apart,twiddle=computed,to=work,load=bulk,pipeline=1]{Y(64,4,1,4,no-tw),Z(32,8,32,256,tw),Z(32,8,4,32,"
     "tw),Z(64,4,1,4,no-tw)}[threads=512,tile=16x1x1,parts=apart,twiddle=computed,load=bulk,pipeline=1]:order="
     "natural"},
    {{512, 512, 512},
     f32,
     Use::whole,
     "{Y(32,16,32,512,tw),X(256,2,256,512,tw),X(32,16,16,256,tw),X(32,16,1,16,no-tw),Y(256,2,16,32,tw)}[threads=512,"
     "tile=1x1x1,parts=apart,to=work,load=bulk,pipeline=1]{Y(32,16,1,16,no-tw),Z(32,16,32,512,tw),Z(256,2,16,32,tw),Z("
     "32,16,1,16,no-tw)}[threads=512,tile=16x1x1,twiddle=computed,cluster=8]:order=natural"},
    {{1024, 1024, 1024},
     f32,
     Use::whole,
     "{X(64,16,64,1024,tw),X(128,8,8,64,tw),X(128,8,1,8,no-tw)}[threads=128,tile=1x2x1,registers=64]{Y(32,32,32,1024,"
     "tw),Y(32,32,1,32,no-tw)}[threads=512,tile=16x1x1,parts=apart,registers=128]{Z(32,32,32,1024,tw),Z(32,32,1,32,"
     "no-tw)}[threads=512,tile=16x1x1,parts=apart,registers=128]:order=natural"},
    {{128, 128, 128},
     f64,
     Use::whole,
     "{Y(8,16,8,128,tw),X(8,16,8,128,tw),X(16,8,1,8,no-tw),Y(64,2,4,8,tw)}[threads=256,tile=1x1x1,to=work,registers="
     "128]{Y(32,4,1,4,no-tw),Z(32,4,32,128,tw),Z(32,4,8,32,tw),Z(16,8,1,8,no-tw)}[threads=256,tile=8x1x1,registers="
     "128]:order=natural,prec=f64"},
    {{256, 256, 256},
     f64,
     Use::whole,
     "{Y(16,16,16,256,tw),X(16,16,16,256,tw),X(16,16,1,16,no-tw),Y(128,2,8,16,tw)}[threads=512,tile=1x1x1,parts=apart,"
     "to=work,load=async,pipeline=1]{Z(16,16,16,256,tw),Y(32,8,1,8,no-tw),Z(16,16,1,16,no-tw)}[threads=512,tile=4x1x1,"
     "parts=apart]:order=natural,prec=f64"},
    {{384, 384, 384},
     f32,
     Use::whole,
     "{X(48,8,48,384,tw),X(48,8,6,48,tw),X(64,6,1,6,no-tw)}[threads=128,tile=1x4x1,exchange=shared]{Y(16,24,16,384,tw),"
     "Y(24,16,1,16,no-tw)}[threads=512,tile=32x1x1,parts=apart]{Z(16,24,16,384,tw),Z(24,16,1,16,no-tw)}[threads=512,"
     "tile=32x1x1,parts=apart]:order=natural"},
    {{512, 512, 512},
     f64,
     Use::whole,
     "{X(64,8,64,512,tw),X(64,8,8,64,tw),X(64,8,1,8,no-tw)}[threads=128,tile=1x2x1,registers=64]{Y(64,8,64,512,tw),Y("
     "64,8,8,64,tw),Y(64,8,1,8,no-tw)}[threads=512,tile=8x1x1,registers=64]{Z(32,16,32,512,tw),Z(32,16,2,32,tw),Z(256,"
     "2,1,2,no-tw)}[threads=512,tile=16x1x1,parts=apart,load=async,pipeline=1]:order=natural,prec=f64"},
    {{1024, 1024, 1024},
     f64,
     Use::whole,
     "{X(64,16,64,1024,tw),X(128,8,8,64,tw),X(128,8,1,8,no-tw)}[threads=64,tile=1x1x1,registers=128]{Y(32,32,32,1024,"
     "tw),Y(32,32,1,32,no-tw)}[threads=256,tile=8x1x1,parts=apart]{Z(32,32,32,1024,tw),Z(32,32,1,32,no-tw)}[threads="
     "256,tile=8x1x1,parts=apart]:order=natural,prec=f64"},
    {{4096, 4096, 1},
     f32,
     Use::whole,
     "{X(256,16,256,4096,tw),X(256,16,16,256,tw),X(256,16,1,16,no-tw)}[threads=256,tile=1x1,registers=64]{Y(512,8,512,"
     "4096,tw),Y(512,8,64,512,tw)}[threads=256,tile=64x1,to=work,registers=64]{Y(512,8,8,64,tw),Y(512,8,1,8,no-tw)}["
     "threads=256,tile=64x1,registers=64]:order=natural"},
    {{8192, 8192, 1},
     f32,
     Use::whole,
     "{X(512,16,512,8192,tw),X(512,16,32,512,tw),X(256,32,1,32,no-tw)}[threads=256,tile=1x1,registers=128]{Y(512,16,"
     "512,8192,tw),Y(1024,8,64,512,tw)}[threads=256,tile=32x1,to=work,registers=64]{Y(1024,8,8,64,tw),Y(1024,8,1,8,no-"
     "tw)}[threads=128,tile=32x1,registers=64]:order=natural"},
    {{8192, 8192, 1},
     f64,
     Use::whole,
     "{X(512,16,512,8192,tw),X(512,16,32,512,tw),X(512,16,2,32,tw),X(4096,2,1,2,no-tw)}[threads=512,tile=1x1,parts="
     "apart,registers=128]{Y(512,16,512,8192,tw),Y(1024,8,64,512,tw)}[threads=256,tile=16x1,to=work,registers=128]{Y("
     "1024,8,8,64,tw),Y(1024,8,1,8,no-tw)}[threads=128,tile=16x1,registers=128]:order=natural,prec=f64"},
    {{256, 256, 256},
     f32,
     Use::cut,
     "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4x1,to=work,registers=64]{Y(16,16,16,256,tw),Y(16,16,"
     "1,16,no-tw)}[threads=256,tile=16x1x1,to=work,registers=64]{Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}[threads=256,"
     "tile=16x1x1,registers=64]:order=natural"},
    {{256, 256, 256},
     f32,
     Use::pad,
     "{Z(16,16,16,256,tw),Z(16,16,1,16,no-tw)}[threads=256,tile=16x1x1,to=work,registers=64]{Y(16,16,16,256,tw),Y(16,"
     "16,1,16,no-tw)}[threads=256,tile=16x1x1,to=work,registers=64]{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,"
     "tile=1x4x1,registers=64]:order=natural"},
    {{512, 512, 512},
     f32,
     Use::cut,
     "{X(32,16,32,512,tw),X(32,16,2,32,tw),X(256,2,1,2,no-tw)}[threads=128,tile=1x4x1,to=work,registers=64]{Y(32,16,32,"
     "512,tw),Y(32,16,2,32,tw),Y(256,2,1,2,no-tw)}[threads=512,tile=16x1x1,to=work,registers=64]{Z(16,32,16,512,tw),Z("
     "32,16,1,16,no-tw)}[threads=512,tile=32x1x1,parts=apart,registers=128]:order=natural"},
    {{512, 512, 512},
     f32,
     Use::pad,
     "{Z(32,16,32,512,tw),Z(32,16,2,32,tw),Z(256,2,1,2,no-tw)}[threads=512,tile=16x1x1,to=work,registers=64]{Y(32,16,"
     "32,512,tw),Y(32,16,2,32,tw),Y(256,2,1,2,no-tw)}[threads=512,tile=16x1x1,to=work,registers=64]{X(32,16,32,512,tw),"
     "X(32,16,2,32,tw),X(256,2,1,2,no-tw)}[threads=128,tile=1x4x1,registers=64]:order=natural"},
};

// How the hooks use the arrays. Returns nothing where no winner was measured: windows on only some dimensions, or on
// real arrays.
std::optional<Use> use_of(const EmitOptions& options) {
  int padded = 0, cut = 0;
  for (const auto& hook : options.hooks) padded += hook.input.has_value(), cut += hook.output.has_value();
  if (padded == 0 && cut == 0) return Use::whole;
  if (options.type != FftType::c2c) return {};
  if (padded == 3 && cut == 0) return Use::pad;
  if (padded == 0 && cut == 3) return Use::cut;
  return {};
}

// Bulk copies need dense rows, and no hook may be attached to them.
bool may_copy_in_bulk(const EmitOptions& options) {
  bool plain = !options.input;
  for (const auto& hook : options.hooks)
    plain = plain && !hook.input && hook.input_factors.empty() && hook.input_turns.empty();
  return plain;
}

void load_plainly(Kernel& kernel) {
  kernel.with.load = Load::plain;
  kernel.with.pipeline = 0;
}
// Removes loads that the device does not allow or, for the first kernel, the input array.
void restrict_loads(FftPlan& plan, const EmitOptions& options, const DeviceTraits& device) {
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const Load load = plan.kernels[k].with.load;
    const bool bulk = device.compute_capability >= 90 && (k > 0 || may_copy_in_bulk(options));
    if ((load == Load::bulk && !bulk) || (load == Load::async && device.compute_capability < 80))
      load_plainly(plan.kernels[k]);
  }
}

// About halves the largest number of values carried along any dimension: takes the largest number up to the half that
// kernel k may carry. Returns false if nothing is left to halve.
bool halve(FftPlan& plan, std::size_t k, const EmitOptions& options) {
  Kernel& kernel = plan.kernels[k];
  auto& tile = kernel.with.tile;
  const auto most = std::max_element(tile.begin(), tile.end());
  if (*most < 2) return false;
  const auto may_carry = [&] {
    try {
      plan_passes(plan, options);
      return true;
    } catch (const Error&) {  // rule tile
      return false;
    }
  };
  *most /= 2;
  while (*most > 1 && !may_carry()) --*most;
  if (kernel.with.threads % 64 == 0) kernel.with.threads /= 2;
  return true;
}

// Kernels that need more shared memory than a block has first exchange the real and imaginary parts one after the
// other, then carry less.
void fit_shared_memory(FftPlan& plan, const EmitOptions& options, const DeviceTraits& device) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<PlannedPass> passes = plan_passes(plan, options).passes;
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
      Kernel& kernel = plan.kernels[k];
      const std::int64_t bytes = pass_memory(passes[k].spec).bytes;
      if (bytes <= device.shared_per_block) continue;
      if (kernel.with.parts == Parts::together && kernel.with.exchange == Exchange::shared)
        kernel.with.parts = Parts::apart;
      else if (!halve(plan, k, options))
        throw Error(Status::unsupported,
                    fmt::format("kernel {} of the plain plan needs {} bytes of shared memory, a block of {} has {}",
                                k + 1, bytes, device.name, device.shared_per_block));
      changed = true;
    }
  }
}

bool fits(const FftPlan& plan, const EmitOptions& options, const DeviceTraits& device) {
  if (!check(plan).empty() || !check_device(plan, device).empty()) return false;
  try {
    const std::vector<PlannedPass> passes = plan_passes(plan, options).passes;
    return std::all_of(passes.begin(), passes.end(), [&](const PlannedPass& pass) {
      return broken_rule(pass.spec).empty() && pass_memory(pass.spec).bytes <= device.shared_per_block;
    });
  } catch (const Error&) {  // for example, bulk copies that these arrays do not allow
    return false;
  }
}

// The output array may hold values between kernels if nothing is strided and no value still to be read would be
// overwritten.
bool output_may_hold(const EmitOptions& options) {
  return options.type == FftType::c2c && !options.output && !(options.in_place && options.input);
}

void through_workspace(FftPlan& plan) {
  for (std::size_t k = 0; k + 1 < plan.kernels.size(); ++k) plan.kernels[k].with.to = Target::work;
}

}  // namespace

std::optional<FftPlan> measured_plan(const EmitOptions& asked, const DeviceTraits& device) {
  EmitOptions options = asked;
  options.device = device;
  const std::optional<Use> use = use_of(options);
  for (const Winner& winner : winners) {
    if (!use || winner.use != *use || winner.n != options.n || winner.precision != options.precision ||
        winner.type != options.type || options.batch < winner.least_batch)
      continue;
    FftPlan plan = parse_fft_plan(winner.plan);
    plan.place = options.in_place ? Place::in : Place::out;
    restrict_loads(plan, options, device);
    if (output_may_hold(options) && fits(plan, options, device)) return plan;
    through_workspace(plan);  // in place, a kernel must not move its values
    if (fits(plan, options, device)) return plan;
  }
  return {};
}

FftPlan known_plan(const EmitOptions& asked, const DeviceTraits& device) {
  if (auto plan = measured_plan(asked, device)) return *plan;
  EmitOptions options = asked;
  options.device = device;
  FftPlan plan = plain_plan(options);
  fit_shared_memory(plan, options, device);
  return plan;
}

}  // namespace fourtune::generator::fft
