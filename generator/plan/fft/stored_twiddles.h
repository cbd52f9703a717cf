// Up to which n the factors of a sub-FFT come from a constant array (TwiddleForm::table).
#pragma once

#include <cstdint>

namespace fourtune::generator::fft {

inline constexpr std::int64_t most_stored_twiddles = 65536;

}  // namespace fourtune::generator::fft
