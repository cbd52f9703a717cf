// cufinufftf_* and cufinufftf1d1 to cufinufftf3d3many: cuFINUFFT's functions in single precision.
#include "dropin/common/interface.h"

using namespace fourtune::dropin;
using fourtune::Precision;
using Real = float;
constexpr Precision kPrecision = Precision::f32;

#define NAME(x) cufinufftf##x
#define TEXT(x) "cufinufftf" #x

#pragma GCC visibility push(default)
extern "C" {
#include "dropin/common/simple_functions.h"
#include "dropin/cufinufft/functions.h"
}
#pragma GCC visibility pop
