// The caller's structure of options, finufft_opts, as each release documents it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fourtune::dropin {

// What the structures of all releases begin with.
struct OptionsHead {
  std::int32_t mode_order = 0;    // modeord. 0: centred, 1: as in FFTs
  std::int32_t second = 0;        // spreadinterponly; up to 2.3 chkbnds, which has no effect in 2.3
  std::int32_t debug = 0;         // prints the plan and its times
  std::int32_t spread_debug = 0;  // no effect: debug prints the spreader's times too
  std::int32_t show_warnings = 1;
  std::int32_t threads = 0;             // nthreads. 0 or less: all
  std::int32_t fftw = 64;               // advice (FFTW_ESTIMATE): the tuner chooses the library and its flags
  std::int32_t sort = 2;                // advice
  std::int32_t kernel_method = 1;       // spread_kerevalmeth, no effect
  std::int32_t kernel_padding = 1;      // spread_kerpad, no effect
  double upsampling = 0;                // for the kernel of spreadinterponly, else advice; at most 1 is an error, but 0
  std::int32_t spread_thread = 0;       // advice
  std::int32_t most_at_once = 0;        // maxbatchsize
  std::int32_t atomic_threads = -1;     // advice
  std::int32_t most_in_subproblem = 0;  // advice
};
struct OptionsLocks {
  void (*lock)(void*) = nullptr;
  void (*unlock)(void*) = nullptr;
  void* data = nullptr;
};
struct Options22 {  // and earlier ones, and 2.3
  OptionsHead head;
};
struct Options24 {
  OptionsHead head;
  OptionsLocks locks;
};
struct Options25 {
  OptionsHead head;
  std::int32_t kernel_formula = 0;
  OptionsLocks locks;
};
struct Options26 {
  OptionsHead head;
  std::int32_t kernel_formula = 0;
  std::int32_t allow_too_accurate = 0;
  OptionsLocks locks;
};
static_assert(sizeof(Options22) == 64 && sizeof(Options24) == 88 && sizeof(Options25) == 96 && sizeof(Options26) == 96);

// Fortran's structure of finufft.fh has 4-byte integers in place of the pointers at its end, so it is shorter than that
// of the Fortran module, which is that of C. Nobody can tell which one a caller has. So the pointers are not read: a
// Fortran caller has no planner lock. These bytes are in both.
extern const std::size_t kFortranBytes;
class FortranOptions {
 public:
  explicit FortranOptions(const void* options);
  const void* get() const { return given_ ? &bytes_ : nullptr; }

 private:
  Options26 bytes_;  // as long as any
  bool given_;
};

// Writes the defaults of this library's release. `bytes`: how much of the structure the caller has; never more is
// written.
void write_default_options(void* options, std::size_t bytes) noexcept;

}  // namespace fourtune::dropin
