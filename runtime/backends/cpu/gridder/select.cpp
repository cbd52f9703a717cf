#include "runtime/backends/cpu/gridder/gridder.h"
#include "runtime/backends/cpu/gridder/kernels.h"
#include "runtime/backends/cpu/gridder/tables.h"

namespace fourtune::runtime::cpu {

template <class T>
Kernels<T> select_kernels(const Tiling& tiling, const WeightTables<T>& tables) {
  Kernels<T> k = portable_kernels<T>();
  refine_locate(k, tiling);
  refine_rows(k);
  refine_spread(k, tiling);
  refine_interpolate(k, tiling);
  if (tables.table == 0) refine_evaluate(k, tiling);
  return k;
}
template Kernels<float> select_kernels<float>(const Tiling&, const WeightTables<float>&);
template Kernels<double> select_kernels<double>(const Tiling&, const WeightTables<double>&);

const char* kernel_isa() {
  static const char* const isa = [] {
    Kernels<float> k = portable_kernels<float>();
    refine_locate(k, Tiling{});
    return k.isa;
  }();
  return isa;
}

}  // namespace fourtune::runtime::cpu
