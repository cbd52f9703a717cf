#include "tools/bench/report/colours.h"

#include <array>
#include <utility>

namespace fourtune::tools {

const char* colour_of(std::string_view curve) noexcept {
  // By the beginning of the name.
  static constexpr std::array<std::pair<std::string_view, const char*>, 16> kColours{{
      {"untuned", "#0072b2"},
      {"tuned", "#0072b2"},
      {"paper", "#56b4e9"},
      {"GM", "#56b4e9"},  // published methods ("SM, newer parts")
      {"SM", "#56b4e9"},
      {"published", "#56b4e9"},
      {"cufinufft", "#d55e00"},
      {"finufft", "#d55e00"},
      {"cufft", "#009e73"},
      {"cuFFT", "#009e73"},
      {"vkfft", "#cc79a7"},
      {"VkFFT", "#cc79a7"},
      {"fftw", "#e69f00"},
      {"FFTW", "#e69f00"},
      {"gpunufft", "#f0e442"},
      {"ducc", "#e69f00"},
  }};
  for (const auto& [name, colour] : kColours)
    if (curve.substr(0, name.size()) == name) return colour;
  return "#000000";
}

}  // namespace fourtune::tools
