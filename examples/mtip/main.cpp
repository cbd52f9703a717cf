// Finds a density from X-ray images of single particles in unknown orientations, on any number of ranks:
//   mpirun -n 4 mtip --images 200 --iterations 10
//
// The images are made from a formula. The density starts as the true one seen at low resolution, which fixes its place
// and its hand; then slicing, orientation matching, merging and phasing take turns, each round at a higher resolution.
// The Fourier shell correlation with the truth says how far it came.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include "examples/mtip/molecule.h"
#include "examples/mtip/steps.h"

namespace {

using namespace mtip;

struct Settings {
  std::int64_t grid = 40;
  int images = 120, pixels = 28, iterations = 8, blobs = 14, tries = 24;
  std::int64_t references = 4000;
  double keep = 0.6, tol = 1e-6, start = 0.4, known = 0;
  std::uint64_t seed = 1;
};

// Times steps; the slowest rank counts.
class Clock {
 public:
  double lap() {
    const double now = MPI_Wtime(), seconds = largest(now - start_);
    start_ = MPI_Wtime();
    return seconds;
  }

 private:
  double start_ = MPI_Wtime();
};

// The correlation of two transforms on shells of |q|: sum F G* / sqrt(sum |F|^2 sum |G|^2).
std::vector<double> shell_correlation(const Volume& volume, const Values& f, const Molecule& truth, int shells) {
  std::vector<double> sums(static_cast<std::size_t>(3 * shells), 0);
  volume.for_each_frequency([&](std::size_t at, const Vector& q) {
    const int s = static_cast<int>(shells * length(q) / std::numbers::pi);
    if (s >= shells) return;
    const Complex g = truth.transform(q);
    double* const shell = sums.data() + 3 * s;
    shell[0] += (f[at] * std::conj(g)).real(), shell[1] += std::norm(f[at]), shell[2] += std::norm(g);
  });
  sums = sum(sums);
  std::vector<double> result;
  for (std::size_t s = 0; s < sums.size(); s += 3)
    result.push_back(sums[s] / std::sqrt(std::max(1e-300, sums[s + 1] * sums[s + 2])));
  return result;
}

// The part of the Nyquist frequency up to which shells agree.
double resolution(const std::vector<double>& correlation) {
  std::size_t s = 0;
  while (s < correlation.size() && correlation[s] > 0.5) ++s;
  return static_cast<double>(s) / static_cast<double>(correlation.size());
}

Images make_images(const Settings& s, const Molecule& truth, double q_max) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Images images;
  images.pixels = ewald_pixels(s.pixels, q_max, 8 * q_max);
  images.first = static_cast<std::uint64_t>(s.images * rank / ranks);
  for (int i = s.images * rank / ranks; i < s.images * (rank + 1) / ranks; ++i) {
    const Quaternion turn = random_rotation(s.seed + 100, static_cast<std::uint64_t>(i));
    std::vector<double> image;
    for (const Vector& q : images.pixels) image.push_back(std::norm(truth.transform(rotate(turn, q))));
    images.values.push_back(std::move(image));
    images.orientation.push_back({1, 0, 0, 0});
  }
  return images;
}

// The true density at low resolution.
Values start_density(Volume& volume, const Molecule& truth, double q_max) {
  Values spectrum(volume.reciprocal_count());
  volume.for_each_frequency([&](std::size_t at, const Vector& q) {
    const double part = length(q) / q_max;
    spectrum[at] = std::exp(-part * part * 1.5) * truth.transform({q[0], q[1], q[2]});
  });
  return volume.to_space(spectrum);
}

int run(const Settings& s, bool speaks) {
  const double nyquist = std::numbers::pi, q_max = 0.85 * nyquist;
  const double radius = static_cast<double>(s.grid) / 8 - 0.5, reach = static_cast<double>(s.grid) / 4;
  const Molecule truth(0.75 * radius, s.blobs, s.seed);
  Volume volume(s.grid, static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)), s.tol);
  Images images = make_images(s, truth, q_max);
  Values density = start_density(volume, truth, s.start * nyquist);
  Values autocorrelation = autocorrelation_of(volume, density, reach);
  if (speaks)
    std::printf("grid %lld^3, %d images of %zu pixels\nround  q/nyquist  match     merge     phase     resolution\n",
                static_cast<long long>(s.grid), s.images, images.pixels.size());
  double reached = 0;
  std::vector<double> correlation;
  for (int round = 0; round < s.iterations; ++round) {
    // The resolution grows to that of the images in the first two thirds of the rounds.
    const double part = std::min(1.0, (round + 1) / std::max(1.0, s.iterations * 0.67));
    const double limit = std::min(q_max, nyquist * (1.2 * s.start + (0.9 - 1.2 * s.start) * part));
    Clock clock;
    Matching matching;
    matching.references = s.references;
    matching.tries = s.tries;
    matching.angle = 0.25 / (1 + round);
    matching.q_max = limit;
    matching.seed = s.seed + static_cast<std::uint64_t>(round);
    match(volume, autocorrelation, images, matching);
    const double matched = clock.lap();

    Merging merging;
    merging.reach = reach;
    merging.keep = s.keep;
    merging.q_max = limit;
    const Values merged = merge(volume, images, merging);
    const double merge_time = clock.lap();

    Phasing phasing;
    phasing.reach = radius + 1.5;
    phasing.q_max = limit;
    phase(volume, merged, density, phasing);
    const double phased = clock.lap();
    autocorrelation = autocorrelation_of(volume, density, reach);
    correlation = shell_correlation(volume, volume.to_reciprocal(density), truth, 16);
    reached = resolution(correlation);
    if (speaks)
      std::printf("%5d  %9.2f  %6.2f s  %6.2f s  %6.2f s  %10.2f\n", round + 1, limit / nyquist, matched, merge_time,
                  phased, reached);
  }
  if (speaks) {
    std::printf("Fourier shell correlation with the truth, by |q| / nyquist:\n");
    for (std::size_t i = 0; i < correlation.size(); ++i)
      std::printf("  %.3f  %6.3f  %s\n", (static_cast<double>(i) + 0.5) / static_cast<double>(correlation.size()),
                  correlation[i],
                  std::string(static_cast<std::size_t>(std::max(0.0, 50 * correlation[i])), '#').c_str());
    std::printf("started at %.2f, agrees with the truth up to %.2f of the nyquist frequency\n", s.start, reached);
  }
  return reached >= s.known ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, code = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Settings settings;
  CLI::App app("Reconstructs a density from diffraction images of unknown orientation (M-TIP)");
  app.add_option("--grid", settings.grid, "Cells per side; the density fills a quarter of each")->capture_default_str();
  app.add_option("--images", settings.images, "Images of all ranks together")->capture_default_str();
  app.add_option("--pixels", settings.pixels, "Pixels per side of an image")->capture_default_str();
  app.add_option("--iterations", settings.iterations, "Rounds of the four steps")->capture_default_str();
  app.add_option("--references", settings.references, "Orientations to begin with")->capture_default_str();
  app.add_option("--tries", settings.tries, "Turns of each image's orientation per step of a match")
      ->capture_default_str();
  app.add_option("--start", settings.start, "Resolution of the start, of the nyquist frequency")->capture_default_str();
  app.add_option("--keep", settings.keep, "Part of the images that is merged, those that match best")
      ->capture_default_str();
  app.add_option("--tol", settings.tol, "Tolerance of the nonuniform transforms")->capture_default_str();
  app.add_option("--seed", settings.seed, "Of the density and the orientations")->capture_default_str();
  app.add_option("--expect", settings.known, "Fail below this resolution");
  try {
    app.parse(argc, argv);
    code = run(settings, rank == 0);  // transforms end before MPI does
  } catch (const CLI::ParseError& error) {
    code = rank == 0 ? app.exit(error) : error.get_exit_code();
  } catch (const fourtune::Error& error) {
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
