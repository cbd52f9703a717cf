// finufft1d1_ and so on: FINUFFT's Fortran functions in double precision.
#include "dropin/common/interface.h"
#include "dropin/finufft/options.h"
#include "dropin/finufft/release.h"

using namespace fourtune::dropin;
using fourtune::Precision;
using Real = double;
constexpr Precision kPrecision = Precision::f64;

#define NAME(x) finufft##x##_
#define TEXT(x) "finufft" #x "_"

#pragma GCC visibility push(default)
extern "C" {
#include "dropin/finufft/fortran_functions.h"
}
#pragma GCC visibility pop
