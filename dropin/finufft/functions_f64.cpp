// finufft_* and finufft1d1 to finufft3d3many: FINUFFT's functions in double precision.
#include "dropin/common/interface.h"
#include "dropin/finufft/options.h"
#include "dropin/finufft/release.h"

using namespace fourtune::dropin;
using fourtune::Precision;
using Real = double;
constexpr Precision kPrecision = Precision::f64;

#define NAME(x) finufft##x
#define TEXT(x) "finufft" #x

#pragma GCC visibility push(default)
extern "C" {
#include "dropin/common/simple_functions.h"
#include "dropin/finufft/functions.h"
// The default of the option `fftw`, FFTW_ESTIMATE.
extern const int FINUFFT_FFT_DEFAULT;
const int FINUFFT_FFT_DEFAULT = 64;
}
#pragma GCC visibility pop
