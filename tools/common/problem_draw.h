// Draws random problems as applications have them: lengths are log-uniform over all integers, with more weight on
// smooth ones; densities, tolerances, batches, precisions, dimensions and point classes of every kind. A seed gives the
// same problems on every machine, and the same as the Python program that defines the distribution.
#pragma once

#include <cstdint>
#include <string>

#include "fourtune/problem.h"
#include "tools/common/python_random.h"

namespace fourtune::tools {

// Below this limit the distribution contains no uniform problems.
inline constexpr double kLeastMegabytes = 0.6;

class ProblemDraw {
 public:
  // megabytes: upper limit of one transform's input and output together, at least kLeastMegabytes.
  ProblemDraw(Kind kind, std::uint64_t seed, double megabytes);
  // The next token, spelled as in the Python program (tol=3.4e-06); it can be parsed.
  std::string next() { return kind_ == Kind::fft ? next_fft() : next_nufft(); }

 private:
  std::string next_fft();
  std::string next_nufft();
  std::int64_t length(double low, double high);
  struct Sizes {
    std::int64_t n[3];
    std::string text;
    double product;
  };
  Sizes sizes(int dim, double low, double high);

  Kind kind_;
  double limit_;  // bytes
  PythonRandom random_;
};

}  // namespace fourtune::tools
