// finufftf_* and finufftf1d1 to finufftf3d3many: FINUFFT's functions in single precision.
#include "dropin/common/interface.h"
#include "dropin/finufft/options.h"
#include "dropin/finufft/release.h"

using namespace fourtune::dropin;
using fourtune::Precision;
using Real = float;
constexpr Precision kPrecision = Precision::f32;

#define NAME(x) finufftf##x
#define TEXT(x) "finufftf" #x

#pragma GCC visibility push(default)
extern "C" {
#include "dropin/common/simple_functions.h"
#include "dropin/finufft/functions.h"
}
#pragma GCC visibility pop
