// The kernels of a gridder: the portable ones, in whose place the vectorised ones of each table are put (tables.h).
#include <fmt/format.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "fourtune/status.h"
#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/gridder/kernels.h"
#include "runtime/backends/cpu/gridder/tables.h"

namespace fourtune::runtime::cpu {

template <class T>
GridderKernels<T> select_kernels(const Tiling& tiling, const WeightTables<T>& tables) {
  GridderKernels<T> k = portable_kernels<T>();
  refine_locate(k, tiling);
  refine_rows(k);
  refine_spread(k, tiling);
  refine_interpolate(k, tiling);
  if (tables.table == 0) refine_evaluate(k, tiling);
  return k;
}
template GridderKernels<float> select_kernels<float>(const Tiling&, const WeightTables<float>&);
template GridderKernels<double> select_kernels<double>(const Tiling&, const WeightTables<double>&);

namespace {

// FOURTUNE_ISA keeps the kernels from wider vectors than those of the instruction set that it names.
void respect_widest_isa() {
  const char* const widest = std::getenv("FOURTUNE_ISA");
  if (!widest || !*widest) return;
  const std::string_view isa = widest;
  if (isa != "avx512" && isa != "avx2" && isa != "portable")
    throw Error(Status::invalid_option,
                fmt::format("FOURTUNE_ISA is '{}'; it can be avx512, avx2 or portable", text::shown(isa, 100)));
#if (HWY_TARGETS & (HWY_TARGETS - 1)) != 0  // else the kernels exist for one instruction set
  // Of two targets the better one has the lower bit. Where none is left, Highway takes the compiler's default.
  if (isa == "avx2") hwy::DisableTargets(HWY_AVX2 - 1);
  if (isa == "portable") hwy::DisableTargets(HWY_AVX2 | (HWY_AVX2 - 1) | HWY_SSE4 | HWY_SSSE3);
#endif
}

}  // namespace

const char* kernel_isa() {
  static const char* const isa = [] {
    respect_widest_isa();
    GridderKernels<float> k = portable_kernels<float>();
    refine_locate(k, Tiling{});
    return k.isa;
  }();
  return isa;
}

}  // namespace fourtune::runtime::cpu
