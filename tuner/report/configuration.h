// A plan's text as the names and values of tuning parameters, for tools that know no plans.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace fourtune::tuner {

// "cuda;sort=bins(bin=8x4,cap=64);fft=plain" is {"plan": "cuda", "sort": "bins", "sort_bin": "8x4", "sort_cap": "64",
// "fft": "plain"}. A word without a name gets its place in the list as one, counted from 0: "window_1". A text that is
// no plan is split in the same way, as far as its brackets allow. Kernels of the FFT notation are numbered: of
// "fft=interleaved{X(8,8,8,64,tw)}[threads=64]:order=natural" come {"fft": "interleaved", "fft_0": "X(8,8,8,64,tw)",
// "fft_0_threads": "64", "fft_order": "natural"}.
std::map<std::string, std::string> configuration_of(std::string_view plan);

}  // namespace fourtune::tuner
