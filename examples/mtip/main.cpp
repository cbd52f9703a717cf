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
#include "examples/mtip/shell_plot.h"
#include "examples/mtip/steps.h"

namespace {

using namespace mtip;

struct Settings {
  std::int64_t grid = 40;
  int images = 120, pixels = 28, coarse = 28, iterations = 8, blobs = 14, tries = 24;
  std::int64_t references = 4000;
  double keep = 0.6, start = 0.4, known = 0, paper = 0;
  std::uint64_t seed = 1;
  Computing computing;
  std::string plot;
};

// Table II of the paper cuFINUFFT: 1000 images on each rank, of 1.02e6 points on a grid of 41^3 for slicing and 1.64e7
// on one of 81^3 for merging, to 12 digits. `paper` scales the points, and grids by its cube root.
void take_paper(Settings& s) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double points = std::sqrt(s.paper), side = std::cbrt(s.paper);
  s.images = std::max(8, static_cast<int>(std::lround(1000 * points))) * ranks;
  // A detector's corners lie beyond the largest |q|: 3/4 of its pixels count.
  s.coarse = std::max(12, static_cast<int>(std::lround(36 * std::sqrt(points))));
  s.pixels = std::max(16, static_cast<int>(std::lround(145 * std::sqrt(points))));
  s.grid = std::max<std::int64_t>(24, std::llround(81 * side));
  s.computing.tol = 1e-12;
}

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
  images.fine.pixels = ewald_pixels(s.pixels, q_max, 8 * q_max);
  images.coarse.pixels = ewald_pixels(s.coarse, q_max, 8 * q_max);
  const std::int64_t all = s.images, begin = all * rank / ranks, end = all * (rank + 1) / ranks;
  images.first = static_cast<std::uint64_t>(begin);
  for (std::int64_t i = begin; i < end; ++i) {
    const Quaternion turn = random_rotation(s.seed + 100, static_cast<std::uint64_t>(i));
    for (Views* views : {&images.fine, &images.coarse}) {
      std::vector<double> image;
      for (const Vector& q : views->pixels) image.push_back(std::norm(truth.transform(rotate(turn, q))));
      views->values.push_back(std::move(image));
    }
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

// The seconds of a round, each those of the slowest rank.
struct Round {
  double limit = 0, slice = 0, match = 0, merge = 0, phase = 0;  // match: without slicing
};

// One round of the four steps, up to |q| = round.limit.
void iterate(const Settings& s, int number, Volume& volume, Images& images, Values& density, Round& round) {
  const double radius = static_cast<double>(s.grid) / 8 - 0.5, reach = static_cast<double>(s.grid) / 4;
  Clock clock;
  Matching matching;
  matching.references = s.references;
  matching.tries = s.tries;
  matching.angle = 0.25 / (1 + number);
  matching.q_max = round.limit;
  matching.seed = s.seed + static_cast<std::uint64_t>(number);
  round.slice = largest(match(volume, density, images, matching));
  round.match = std::max(0.0, clock.lap() - round.slice);

  Merging merging;
  merging.reach = reach;
  merging.keep = s.keep;
  merging.q_max = round.limit;
  const Values merged = merge(volume, images, merging);
  round.merge = clock.lap();

  Phasing phasing;
  phasing.reach = radius + 1.5;
  phasing.q_max = round.limit;
  phase(volume, merged, density, phasing);
  round.phase = clock.lap();
}

void report(const Settings& s, const std::vector<double>& correlation, double reached) {
  std::printf("Fourier shell correlation with the truth, by |q| / nyquist:\n");
  for (std::size_t i = 0; i < correlation.size(); ++i)
    std::printf("  %.3f  %6.3f  %s\n", (static_cast<double>(i) + 0.5) / static_cast<double>(correlation.size()),
                correlation[i], std::string(static_cast<std::size_t>(std::max(0.0, 50 * correlation[i])), '#').c_str());
  std::printf("started at %.2f, agrees with the truth up to %.2f of the nyquist frequency\n", s.start, reached);
}

int run(const Settings& s, bool speaks) {
  const double nyquist = std::numbers::pi, q_max = 0.85 * nyquist;
  const Molecule truth(static_cast<double>(s.grid) / 8 - 0.5, s.blobs, s.seed);
  Volume volume(s.grid, MPI_Comm_c2f(MPI_COMM_WORLD), s.computing);
  Images images = make_images(s, truth, q_max);
  Values density = start_density(volume, truth, s.start * nyquist);
  const auto correlate = [&] { return shell_correlation(volume, volume.to_reciprocal(density), truth, 16); };
  std::vector<ShellCurve> curves{{"start", correlate()}};
  if (speaks)
    std::printf(
        "grid %lld^3, %d images of %zu pixels, %zu for orientations\n"
        "round  q/nyquist  slice     match     merge     phase     resolution\n",
        static_cast<long long>(s.grid), s.images, images.fine.pixels.size(), images.coarse.pixels.size());
  double reached = 0;
  for (int number = 0; number < s.iterations; ++number) {
    // The resolution grows to that of the images in the first two thirds of the rounds.
    const double part = std::min(1.0, (number + 1) / std::max(1.0, s.iterations * 0.67));
    Round round;
    round.limit = std::min(q_max, nyquist * (1.2 * s.start + (0.9 - 1.2 * s.start) * part));
    iterate(s, number, volume, images, density, round);
    curves.push_back({"round " + std::to_string(number + 1), correlate()});
    reached = resolution(curves.back().correlation);
    if (speaks)
      std::printf("%5d  %9.2f  %6.2f s  %6.2f s  %6.2f s  %6.2f s  %10.2f\n", number + 1, round.limit / nyquist,
                  round.slice, round.match, round.merge, round.phase, reached);
  }
  if (speaks) report(s, curves.back().correlation, reached);
  if (speaks && !s.plot.empty() && !plot_shells(curves, s.plot)) {
    std::fprintf(stderr, "%s cannot be written\n", s.plot.c_str());
    return 1;
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
  app.add_option("--coarse-pixels", settings.coarse, "The same of the detector that finds orientations")
      ->capture_default_str();
  app.add_option("--paper", settings.paper, "Sizes of the paper's Table II, times this, on each rank")
      ->check(CLI::Range(1e-6, 16.0));
  app.add_option("--iterations", settings.iterations, "Rounds of the four steps")->capture_default_str();
  app.add_option("--references", settings.references, "Orientations to begin with")->capture_default_str();
  app.add_option("--tries", settings.tries, "Turns of each image's orientation per step of a match")
      ->capture_default_str();
  app.add_option("--start", settings.start, "Resolution of the start, of the nyquist frequency")->capture_default_str();
  app.add_option("--keep", settings.keep, "Part of the images that is merged, those that match best")
      ->capture_default_str();
  app.add_option("--backend", settings.computing.backend, "cpu, or cuda: the GPUs of a machine in turn");
  app.add_option("--plot", settings.plot, "Draw the correlation after every round")->type_name("FILE.svg");
  app.add_option("--tol", settings.computing.tol, "Tolerance of the nonuniform transforms")->capture_default_str();
  app.add_option("--seed", settings.seed, "Of the density and the orientations")->capture_default_str();
  app.add_option("--expect", settings.known, "Fail below this resolution");
  try {
    app.parse(argc, argv);
    if (settings.paper > 0) take_paper(settings);
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
