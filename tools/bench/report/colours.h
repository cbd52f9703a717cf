// One colour per library, the same in every figure, from a palette that colour-blind people tell apart (M. Okabe and
// K. Ito, 2008).
#pragma once

#include <string_view>

namespace fourtune::tools {

// Of a curve, by the library that its name begins with: "cufinufft: method=1" has cuFINUFFT's colour. "#rrggbb".
const char* colour_of(std::string_view curve) noexcept;

}  // namespace fourtune::tools
