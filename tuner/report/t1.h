// The search space of a problem in the tuning community's format of tuning problems, T1 ("Tuning format" of the same
// schemas as T4, t4.h).
//
// Format: ConfigurationSpace has a TuningParameter for each parameter of any candidate (configuration.h), all of them
// texts, "" where a plan has no such parameter, with the untuned plan's values as defaults; one condition lists the
// combinations that are candidates. KernelSpecification names the problem (KernelName, its token) and the device.
#pragma once

#include <string>
#include <string_view>

#include "fourtune/device_traits.h"
#include "fourtune/problem.h"

namespace fourtune::tuner {

// Throws Error{unsupported} for a device that is no GPU: the format knows kernels only.
std::string t1_text(const Problem& problem, const DeviceTraits& device);

// The problem of such a text. Throws Error{invalid_argument} that says what is missing.
Problem problem_of_t1(std::string_view text);

}  // namespace fourtune::tuner
