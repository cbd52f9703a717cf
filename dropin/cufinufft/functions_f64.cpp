// cufinufft_* and cufinufft1d1 to cufinufft3d3many: cuFINUFFT's functions in double precision.
#include "dropin/common/interface.h"
#include "dropin/cufinufft/options.h"

using namespace fourtune::dropin;
using fourtune::Precision;
using Real = double;
constexpr Precision kPrecision = Precision::f64;

#define NAME(x) cufinufft##x
#define TEXT(x) "cufinufft" #x

#pragma GCC visibility push(default)
extern "C" {
void cufinufft_default_opts(void* options) {
  if (options) write_default_options(options);
}
#include "dropin/common/simple_functions.h"
#include "dropin/cufinufft/functions.h"
}
#pragma GCC visibility pop
