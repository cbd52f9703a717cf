// What differs between FINUFFT's releases: the structure of options has no size or version inside, and its owner is the
// caller, who may have been compiled for a shorter one. So each release has a separate library (dropin/CMakeLists.txt),
// which writes and reads no byte beyond the structure of that release.
#pragma once

#include <cstddef>

namespace fourtune::dropin {

constexpr std::ptrdiff_t kAbsent = -1;

struct Release {
  const char* name;                 // "2.4"
  std::size_t size;                 // of the structure of options
  std::ptrdiff_t formula;           // offset of spread_kerformula; kAbsent: this release has no such field
  std::ptrdiff_t allow;             // of allow_eps_too_small
  std::ptrdiff_t locks;             // of fftw_lock_fun, fftw_unlock_fun, fftw_lock_data
  int first_formula, last_formula;  // numbers of kernel formulas, besides 0
  bool checks_bounds;               // chkbnds, the second field, has an effect
  bool second_is_spread_only;       // the second field is spreadinterponly
  bool too_accurate_fails;          // a tolerance below epsilon is an error; before, a warning
  bool warns_of_unused_fields;      // spread_thread, spread_kerevalmeth and spread_kerpad
};

// Of this library.
extern const Release kRelease;

}  // namespace fourtune::dropin
