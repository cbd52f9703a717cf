#include "runtime/backends/cpu/fft/library.h"

#ifdef FOURTUNE_FFTW
#include "runtime/backends/cpu/fft/fftw/fftw_families.h"
#include "runtime/backends/cpu/fft/fftw/wisdom.h"
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
std::string fft_library_version() {
#ifdef FOURTUNE_FFTW
  return fftw_version;
#else
  return {};
#endif
}

template const FftLibrary<float>* fft_library();
template const FftLibrary<double>* fft_library();

}  // namespace fourtune::runtime::cpu
