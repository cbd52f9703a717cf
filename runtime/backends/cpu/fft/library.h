// FFTW as an additional family, for whole transforms and for lines; available in builds that link it (FOURTUNE_FFTW).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {

template <class T>
struct FftLibrary {
  std::unique_ptr<FftRunner> (*make_fft)(const FftOperation&);
  std::unique_ptr<LineFft<T>> (*make_lines)(const LineFftChoice&, bool real);
  std::string (*merge_wisdom)(std::span<const std::string>);
};

// Null in a build without FFTW.
template <class T>
const FftLibrary<T>* fft_library();

// FFTW's name and version; empty in a build without FFTW.
std::string fft_library_version();

// Returns one text with the wisdom of all texts; empty when none holds any, and without FFTW.
template <class T>
std::string merged_wisdom(std::span<const std::string> texts) {
  const FftLibrary<T>* library = fft_library<T>();
  return library ? library->merge_wisdom(texts) : std::string();
}

}  // namespace fourtune::runtime::cpu
