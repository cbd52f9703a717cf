// The status numbers that FINUFFT and cuFINUFFT document, as our own list, and the exception that carries one.
#pragma once

#include <stdexcept>
#include <string>

namespace fourtune::dropin {

enum class Code : int {
  success = 0,
  less_accurate = 1,  // a warning: the tolerance was out of reach, and the best accuracy is given
  too_large = 2,
  bad_point = 4,  // not finite, or too far away where that is checked
  upsampling_too_small = 7,
  no_kernel_polynomial = 8,
  bad_transform_count = 9,
  bad_type = 10,
  no_memory = 11,
  bad_dimension = 12,
  bad_modes = 14,
  gpu_failed = 15,
  no_plan = 16,
  bad_method = 17,
  bad_bins = 18,
  no_shared_memory = 19,
  bad_point_count = 20,
  bad_argument = 21,
  bad_locks = 22,
  bad_kernel_formula = 24,
  unknown = 25,
  too_accurate = 26,
};

class Failure : public std::runtime_error {
 public:
  Failure(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Code code() const noexcept { return code_; }

 private:
  Code code_;
};

// For use in a catch block of a function of the C interface named `caller`: the code of the exception in flight. Its
// text is written to standard error, because a number cannot say what was wrong and what would be right.
int code_of_exception(const char* caller) noexcept;

// Writes "CALLER warning: TEXT" to standard error.
void warn(const char* caller, const std::string& text) noexcept;

// The number that a C function returns: that of `work`, or that of its exception.
template <class Work>
int guarded(const char* caller, const Work& work) noexcept {
  try {
    return static_cast<int>(work());
  } catch (...) {
    return code_of_exception(caller);
  }
}

}  // namespace fourtune::dropin
