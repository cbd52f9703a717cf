#include "runtime/cpu/fft_library.h"

#ifdef FOURTUNE_FFTW
#include "runtime/cpu/fftw/fftw_families.h"
#include "runtime/cpu/fftw/wisdom.h"
#endif

namespace fourtune::runtime::cpu {

template <class T>
const FftLibrary<T>* fft_library() {
#ifdef FOURTUNE_FFTW
  static constexpr FftLibrary<T> kFftw{&make_library_fft<T>, &make_fftw_lines<T>, &merge_wisdom<T>};
  return &kFftw;
#else
  return nullptr;
#endif
}
template const FftLibrary<float>* fft_library();
template const FftLibrary<double>* fft_library();

}  // namespace fourtune::runtime::cpu
