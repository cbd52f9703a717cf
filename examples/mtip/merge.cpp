#include <algorithm>
#include <cmath>

#include "examples/mtip/steps.h"

namespace mtip {
namespace {

double inner(const Values& a, const Values& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i].real() * b[i].real();
  return sum(total);
}

// The score of which so many images of all ranks have a better one, by halving.
double worst_kept(const Images& images, double keep) {
  double low = HUGE_VAL, high = -HUGE_VAL, all = 0;
  for (const double score : images.score) low = std::min(low, score), high = std::max(high, score), ++all;
  low = -largest(-low), high = largest(high), all = sum(all);
  for (int i = 0; i < 40; ++i) {
    const double middle = low + (high - low) / 2;
    double below = 0;
    for (const double score : images.score) below += score <= middle;
    (sum(below) < keep * all ? low : high) = middle;
  }
  return high;
}

// The convolution A* W A + regularisation within the reach.
class Normal {
 public:
  Normal(Volume& volume, const Values& kernel, double reach, double regularisation)
      : volume_(volume), spectrum_(volume.to_reciprocal(kernel)), regularisation_(regularisation) {
    inside_.resize(volume.space_count());
    volume.for_each_cell([&](std::size_t at, const Vector& x) { inside_[at] = length(x) <= reach; });
  }
  Values apply(const Values& f) const {
    Values spectrum = volume_.to_reciprocal(f);
    for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] *= spectrum_[i];
    Values result = volume_.to_space(spectrum);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += regularisation_ * f[i];
    cut(result);
    return result;
  }
  // The autocorrelation of a real density is real.
  void cut(Values& f) const {
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = inside_[i] ? f[i].real() : 0;
  }

 private:
  Volume& volume_;
  Values spectrum_;
  double regularisation_;
  std::vector<bool> inside_;
};

}  // namespace

Values merge(Volume& volume, const Images& images, const Merging& merging) {
  Samples samples;
  Values data, ones;
  const double worst = worst_kept(images, merging.keep);
  const std::vector<Vector>& pixels = images.fine.pixels;
  for (std::size_t i = 0; i < images.count(); ++i)
    for (std::size_t p = 0; p < pixels.size() && !(images.score[i] > worst); ++p) {
      const double q = length(pixels[p]);
      if (q > merging.q_max) continue;
      samples.add(rotate(images.orientation[i], pixels[p]));
      // Images meet near the origin, where samples are dense as 1/q.
      data.emplace_back(q * images.fine.values[i][p]);
      ones.emplace_back(q);
    }
  volume.set_samples(samples);
  Values right = volume.merge(data);
  const Values kernel = volume.merge(ones);
  const double all = sum(ones.empty() ? 0.0 : [&] {
    double total = 0;
    for (const Complex& one : ones) total += one.real();
    return total;
  }());
  const Normal normal(volume, kernel, merging.reach, merging.regularisation * all);
  normal.cut(right);

  Values result(right.size(), 0), residual = right, direction = right;
  double before = inner(residual, residual);
  for (int i = 0; i < merging.iterations && before > 0; ++i) {
    const Values image = normal.apply(direction);
    const double step = before / inner(direction, image);
    for (std::size_t j = 0; j < result.size(); ++j) {
      result[j] += step * direction[j];
      residual[j] -= step * image[j];
    }
    const double after = inner(residual, residual);
    for (std::size_t j = 0; j < result.size(); ++j) direction[j] = residual[j] + after / before * direction[j];
    before = after;
  }
  return result;
}

}  // namespace mtip
