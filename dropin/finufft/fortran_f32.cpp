// finufftf1d1_ and so on: FINUFFT's Fortran functions in single precision.
#include "dropin/common/interface.h"
#include "dropin/finufft/options.h"
#include "dropin/finufft/release.h"

using namespace fourtune::dropin;
using fourtune::Precision;
using Real = float;
constexpr Precision kPrecision = Precision::f32;

#define NAME(x) finufftf##x##_
#define TEXT(x) "finufftf" #x "_"

#pragma GCC visibility push(default)
extern "C" {
#include "dropin/finufft/fortran_functions.h"
}
#pragma GCC visibility pop
