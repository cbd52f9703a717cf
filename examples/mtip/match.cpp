#include <algorithm>
#include <array>
#include <cmath>

#include "examples/mtip/steps.h"

namespace mtip {
namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks_of_world() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

// Compares patterns shell by shell, and not their sizes: how fast a model's intensity falls with |q| says nothing about
// orientations.
class Comparison {
 public:
  Comparison(const std::vector<Vector>& pixels, double q_max) {
    for (std::size_t p = 0; p < pixels.size(); ++p)
      if (length(pixels[p]) <= q_max)
        shells_[std::min(shells_.size() - 1, static_cast<std::size_t>(kShells * length(pixels[p]) / q_max))].push_back(
            p);
  }
  // Minus the sum over shells of pixels times the correlation there; the less the better.
  template <class Model>
  double operator()(const double* image, const Model* model) const {
    double score = 0;
    for (const auto& shell : shells_) {
      const auto count = static_cast<double>(shell.size());
      double a = 0, b = 0, aa = 0, ab = 0, bb = 0;
      for (const std::size_t p : shell) {
        const double of_image = image[p], of_model = model[p];
        a += of_image, b += of_model;
        aa += of_image * of_image, ab += of_image * of_model, bb += of_model * of_model;
      }
      const double spread = (count * aa - a * a) * (count * bb - b * b);
      if (spread > 0) score -= count * (count * ab - a * b) / std::sqrt(spread);
    }
    return score;
  }

 private:
  static constexpr int kShells = 8;
  std::array<std::vector<std::size_t>, kShells> shells_;
};

// Slices of a density, and how long this rank took for them.
struct Slicer {
  Volume& volume;
  const Values& density;
  const std::vector<Vector>& pixels;
  double seconds = 0;
  std::vector<std::vector<double>> operator()(const std::vector<Quaternion>& orientations) {
    const double start = MPI_Wtime();
    auto slices = slice(volume, density, pixels, orientations);
    seconds += MPI_Wtime() - start;
    return slices;
  }
};

// Slices at the references, computed by parts and gathered, and the best of them for each image.
void match_references(Slicer& slicer, Images& images, const Matching& matching, const Comparison& compare) {
  const int rank = rank_of_world(), ranks = ranks_of_world();
  const std::int64_t all = matching.references, begin = all * rank / ranks, end = all * (rank + 1) / ranks;
  std::vector<Quaternion> own;
  for (std::int64_t i = begin; i < end; ++i) own.push_back(spiral(i, all));
  const auto slices = slicer(own);
  const std::size_t pixels = images.coarse.pixels.size();
  std::vector<float> packed, every(static_cast<std::size_t>(all) * pixels);
  for (const auto& one : slices) packed.insert(packed.end(), one.begin(), one.end());
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(pixels), MPI_FLOAT, &row);
  MPI_Type_commit(&row);
  std::vector<int> counts, starts;
  for (int r = 0; r < ranks; ++r) {
    starts.push_back(static_cast<int>(all * r / ranks));
    counts.push_back(static_cast<int>(all * (r + 1) / ranks) - starts.back());
  }
  MPI_Allgatherv(packed.data(), static_cast<int>(own.size()), row, every.data(), counts.data(), starts.data(), row,
                 MPI_COMM_WORLD);
  MPI_Type_free(&row);
  for (std::size_t i = 0; i < images.count(); ++i)
    for (std::int64_t r = 0; r < all; ++r) {
      const double score = compare(images.coarse.values[i].data(), every.data() + static_cast<std::size_t>(r) * pixels);
      if (score < images.score[i]) images.score[i] = score, images.orientation[i] = spiral(r, all);
    }
}

// Each image against turns of the orientation that it has.
void match_around(Slicer& slicer, Images& images, const Matching& matching, double angle, std::uint64_t seed,
                  const Comparison& compare) {
  std::vector<Quaternion> turned;
  for (std::size_t i = 0; i < images.count(); ++i)
    for (int k = 0; k < matching.tries; ++k) {
      const Quaternion turn = k == 0
                                  ? Quaternion{1, 0, 0, 0}
                                  : small_turn(angle, seed, (images.first + i) * 1000 + static_cast<std::uint64_t>(k));
      turned.push_back(multiply(turn, images.orientation[i]));
    }
  const auto slices = slicer(turned);
  const auto tries = static_cast<std::size_t>(matching.tries);
  for (std::size_t i = 0; i < images.count(); ++i) {
    images.score[i] = HUGE_VAL;
    for (std::size_t k = 0; k < tries; ++k) {
      const double score = compare(images.coarse.values[i].data(), slices[i * tries + k].data());
      if (score < images.score[i]) images.score[i] = score, images.orientation[i] = turned[i * tries + k];
    }
  }
}

}  // namespace

double sum(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}
std::vector<double> sum(std::vector<double> values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return values;
}
double largest(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

std::vector<std::vector<double>> slice(Volume& volume, const Values& density, const std::vector<Vector>& pixels,
                                       const std::vector<Quaternion>& orientations) {
  Samples samples;
  for (const Quaternion& turn : orientations)
    for (const Vector& q : pixels) samples.add(rotate(turn, q));
  const Values values = volume.slice(density, samples);
  std::vector<std::vector<double>> slices(orientations.size(), std::vector<double>(pixels.size()));
  for (std::size_t i = 0; i < values.size(); ++i) slices[i / pixels.size()][i % pixels.size()] = std::norm(values[i]);
  return slices;
}

double match(Volume& volume, const Values& density, Images& images, const Matching& matching) {
  const Comparison compare(images.coarse.pixels, matching.q_max);
  Slicer slicer{volume, density, images.coarse.pixels};
  images.score.assign(images.count(), HUGE_VAL);
  match_references(slicer, images, matching, compare);
  for (const double part : {1.0, 0.5, 0.25})
    match_around(slicer, images, matching, part * matching.angle,
                 matching.seed * 16 + static_cast<std::uint64_t>(4 * part), compare);
  return slicer.seconds;
}

}  // namespace mtip
