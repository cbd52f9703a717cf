#include "runtime/cpu/gridder.h"
#include "runtime/cpu/gridder_kernels.h"

namespace fourtune::runtime::cpu {

template <class T>
Kernels<T> select_kernels(const Tiling&, const WeightTables<T>&) {
  return portable_kernels<T>();
}
template Kernels<float> select_kernels<float>(const Tiling&, const WeightTables<float>&);
template Kernels<double> select_kernels<double>(const Tiling&, const WeightTables<double>&);

const char* kernel_isa() { return "portable"; }

}  // namespace fourtune::runtime::cpu
