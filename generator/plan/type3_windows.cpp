// Finds the windows and oversampling factors that meet the tolerance of a type 3.
#include "generator/plan/type3_windows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "generator/plan/summation.h"

namespace fourtune::generator {
namespace {

constexpr double kLeastSigma = 1.25, kSigmaStep = 0.025;
constexpr int kSigmaSteps = 110;  // up to kMaxSigma

double sigma_at(int step) { return kLeastSigma + kSigmaStep * step; }

// Deconvolution of the outer window at the targets also magnifies the inner window's error, and more so the nearer
// sigma is to 1. The formula is fitted to measured errors (pswf, 2D and 3D, extents 5 to 200: 3.4 times the prediction
// in 3D at sigma 1.25, no magnification at 1.5 and above); the prediction without it is in windows.md.
double usual_inner_magnification(double sigma, int dim) {
  return std::pow(1 + 0.04 / ((sigma - 1) * (sigma - 1)), dim);
}

// Predictions are means over many points. If there are few points, all may lie where errors are largest: at the edges
// of their box.
bool is_few(const Problem& problem) {
  constexpr std::int64_t kFew = 200;
  return std::min(problem.m.value_or(kFew), problem.k.value_or(kFew)) < kFew;
}
double edge_share(const Problem& problem) { return is_few(problem) ? 0.3 : 1; }

// There the inner error is magnified like rounding, which is as large at the edges as elsewhere (f64, 1D, tol 9e-11,
// three points that face 47 at the edges: 16 tol with the usual magnification, 1 tol with this one).
// rounded: the outer window's magnification of rounding.
double inner_magnification(const Problem& problem, double outer_sigma, double rounded) {
  const double usual = usual_inner_magnification(outer_sigma, problem.dim);
  return is_few(problem) ? std::max(usual, rounded) : usual;
}
double allowed_rounding(const Problem& problem) { return std::max(0.5 * problem.tol, 8 * epsilon(problem.precision)); }
bool rounding_is_small(const Problem& problem, double magnified) {
  return epsilon(problem.precision) * magnified <= edge_share(problem) * allowed_rounding(problem);
}

constexpr double kLeastPrediction = 1e-15;  // smaller errors are lost in what computing them rounds

// Caches predicted_error for widths and steps of sigma: each value takes 50 microseconds and is computed once.
class Errors {
 public:
  Errors(WindowKind kind, int dim) : kind_(kind), dim_(dim) {}

  // Smallest step at which the width meets the tolerance; above kSigmaSteps if none does. Errors fall with sigma about
  // as exp(-pi width sqrt(1 - 1/sigma)), so the search starts from there.
  int least_step(int width, double tol) {
    const double root = std::log(4 / tol) / (std::numbers::pi * width);
    if (root >= 1) return kSigmaSteps + 1;
    const double guess = (1 / (1 - root * root) - kLeastSigma) / kSigmaStep;
    if (guess > 1.3 * kSigmaSteps) return kSigmaSteps + 1;
    int step = std::clamp(static_cast<int>(guess), 0, kSigmaSteps);
    if (at(width, step) <= tol) {
      while (step > 0 && at(width, step - 1) <= tol) --step;
      return step;
    }
    while (++step <= kSigmaSteps && at(width, step) > tol) {
    }
    return step;
  }

 private:
  double at(int width, int step) {
    double& error = errors_[static_cast<std::size_t>(width)][static_cast<std::size_t>(step)];
    if (error == 0) error = predicted_error(kind_, width, sigma_at(step), dim_, 2);
    return error;
  }
  WindowKind kind_;
  int dim_;
  std::array<std::array<double, kSigmaSteps + 1>, kMaxWidth + 1> errors_{};
};

// Every width at its smallest oversampling factor; of widths with the same factor, only the narrowest.
std::vector<WindowChoice> chosen_windows(Errors& errors, WindowKind kind, double tol) {
  std::vector<WindowChoice> out;
  int previous = -1;
  tol = std::max(tol, kLeastPrediction);
  for (int width = kMaxWidth; width >= kMinWidth; --width) {
    const int step = errors.least_step(width, tol);
    if (step > kSigmaSteps) break;
    if (step == previous) out.pop_back();
    out.push_back({kind, sigma_at(step), width, {0, 0, 0}, 0});
    previous = step;
  }
  return out;
}

}  // namespace

double window_tolerance(const Problem& problem) { return std::max(problem.tol, 2.5 * epsilon(problem.precision)); }

double type3_tolerance(const Problem& problem) { return edge_share(problem) * window_tolerance(problem); }

std::vector<Type3Windows> type3_windows(const Problem& problem, WindowKind kind, double tol) {
  Errors errors(kind, problem.dim);
  std::vector<Type3Windows> out;
  for (const WindowChoice& choice : chosen_windows(errors, kind, tol)) {
    const double rounded = magnification(choice, problem.dim);
    if (!rounding_is_small(problem, rounded)) continue;
    Type3Windows entry{choice, {}};
    for (const WindowChoice& window :
         chosen_windows(errors, kind, tol / inner_magnification(problem, choice.sigma, rounded)))
      if (rounding_is_small(problem, rounded * magnification(window, problem.dim))) entry.inner.push_back(window);
    if (!entry.inner.empty()) out.push_back(entry);
  }
  return out;
}

int type3_outer_width(const Problem& problem, WindowKind kind, double sigma, double tol) {
  return width_for(kind, tol, sigma, problem.dim, 2);
}

int type3_inner_width(const Problem& problem, WindowKind kind, double sigma, const WindowChoice& outer, double tol) {
  const double rounded = is_few(problem) ? magnification(outer, problem.dim) : 1;
  return width_for(kind, tol / inner_magnification(problem, outer.sigma, rounded), sigma, problem.dim, 2);
}

bool type3_rounding_is_small(const Problem& problem, const WindowChoice& outer, const WindowChoice& inner) {
  return rounding_is_small(problem, magnification(outer, problem.dim) * magnification(inner, problem.dim));
}

double Type3Sigma::operator()(std::int64_t m, const std::array<double, 3>& products) {
  constexpr double kStep = 1.1, kEnough = 3;  // above kEnough nothing more can be saved
  double sigma = outer_.sigma;
  for (std::size_t step = 0; sigma * kStep <= kEnough; ++step, sigma *= kStep) {
    double additions = static_cast<double>(m);  // per cell
    for (int d = 0; d < problem_.dim; ++d)
      additions *= outer_.width / (2 * products[d] * sigma / std::numbers::pi + outer_.width + 2);
    const double rounding = epsilon(problem_.precision) * magnified(step, sigma) * std::sqrt(1 + additions);
    if (rounding <= 0.5 * allowed_rounding(problem_)) break;
  }
  return sigma;
}

double Type3Sigma::magnified(std::size_t step, double sigma) {
  if (step == magnified_.size())
    magnified_.push_back(magnification({outer_.kind, sigma, outer_.width, {0, 0, 0}, 0}, problem_.dim));
  return magnified_[step];
}

}  // namespace fourtune::generator
