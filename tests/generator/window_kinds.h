// The windows that tests go through.
#pragma once

#include "generator/window/window.h"

namespace fourtune::generator {

inline constexpr WindowKind kKinds[] = {WindowKind::exp_semicircle, WindowKind::kaiser_bessel, WindowKind::pswf,
                                        WindowKind::gaussian};

}  // namespace fourtune::generator
