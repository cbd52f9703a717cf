#include "runtime/backends/cpu/fft/lines.h"

#include "runtime/backends/cpu/fft/library.h"

namespace fourtune::runtime::cpu {
namespace {

template <class T>
std::unique_ptr<LineFft<T>> make_lines(const LineFftChoice& choice, bool real) {
  if (auto lines = make_simd_lines<T>(choice, real)) return lines;
  if (const FftLibrary<T>* library = fft_library<T>()) return library->make_lines(choice, real);
  return make_single_lines<T>(choice, real);
}

}  // namespace

template <class T>
std::unique_ptr<LineFft<T>> make_line_fft(const LineFftChoice& choice) {
  return make_lines<T>(choice, false);
}
template <class T>
std::unique_ptr<LineFft<T>> make_real_line_fft(const LineFftChoice& choice) {
  return make_lines<T>(choice, true);
}

template std::unique_ptr<LineFft<float>> make_line_fft(const LineFftChoice&);
template std::unique_ptr<LineFft<double>> make_line_fft(const LineFftChoice&);
template std::unique_ptr<LineFft<float>> make_real_line_fft(const LineFftChoice&);
template std::unique_ptr<LineFft<double>> make_real_line_fft(const LineFftChoice&);

}  // namespace fourtune::runtime::cpu
