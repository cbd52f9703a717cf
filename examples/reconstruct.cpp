// Reconstructs a head phantom from samples of its Fourier transform on a nonuniform trajectory, as MRI does.
//   reconstruct --trajectory spiral --size 128 --out head.png
//
// The model is y = A x, where A is a type-2 transform. The output has three images side by side: the truth, the
// density-compensated adjoint A* W y, and conjugate gradients on A* W A x = A* W y. Everything runs on one plan.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <locale>
#include <sstream>

#include "examples/phantom.h"
#include "examples/png_image.h"
#include "examples/trajectory.h"
#include "fourtune/transform.h"

namespace {

using namespace fourtune::examples;
using Samples = std::vector<std::complex<float>>;

struct Settings {
  int dim = 2;
  std::int64_t size = 0;
  std::string trajectory = "spiral", out = "reconstruction.png";
  int iterations = 10, density_iterations = 10, threads = 0;
  double tol = 1e-3, density = 1;
  std::vector<std::string> databases;
};

// Prints a step's name, its time per repetition, and a remark.
class Stopwatch {
 public:
  void report(const char* step, int repetitions = 1, const std::string& remark = {}) {
    const auto now = std::chrono::steady_clock::now();
    const double ms = 1e3 * std::chrono::duration<double>(now - start_).count();
    if (repetitions > 1)
      std::printf("%-24s %9.2f ms  = %d x %.2f ms  %s\n", step, ms, repetitions, ms / repetitions, remark.c_str());
    else
      std::printf("%-24s %9.2f ms  %s\n", step, ms, remark.c_str());
    start_ = std::chrono::steady_clock::now();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The type-2 transform of the model, and its adjoint.
class Model {
 public:
  Model(const Settings& s, const std::array<std::vector<float>, 3>& w)
      : transform_(token(s, w[0].size()), options(s)),
        pixels_(static_cast<std::size_t>(std::pow(s.size, s.dim))),
        samples_(w[0].size()) {
    fourtune::Points points;
    points.m = static_cast<std::int64_t>(samples_);
    points.x = w[0].data();
    points.y = w[1].data();
    points.z = s.dim == 3 ? w[2].data() : nullptr;
    transform_.set_points(points);
  }
  Samples forward(Samples image) {
    Samples samples(samples_);
    transform_.execute(samples.data(), image.data());
    return samples;
  }
  Samples adjoint(Samples samples) {
    Samples image(pixels_);
    transform_.execute_adjoint(samples.data(), image.data());
    return image;
  }
  const fourtune::Transform& transform() const { return transform_; }

 private:
  static std::string token(const Settings& s, std::size_t m) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << "nufft:type=2,n=" << s.size << 'x' << s.size;
    if (s.dim == 3) text << 'x' << s.size;
    text << ",m=" << m << ",prec=f32,tol=" << s.tol;
    if (s.trajectory == "spiral") text << ",points=" << (s.dim == 3 ? "stack" : "spiral");
    if (s.trajectory == "radial") text << ",points=radial";
    return text.str();
  }
  static fourtune::Options options(const Settings& s) {
    fourtune::Options options;
    options.databases = s.databases;
    options.threads = s.threads;
    return options;
  }

  fourtune::Transform transform_;
  std::size_t pixels_, samples_;
};

// Computes weights w with K w = 1, K = A D A*, by the fixed-point iteration w <- w / K w (Pipe and Menon, Magn. Reson.
// Med. 41, 1999). D multiplies the image by triangles, whose transform, the Fejer kernel, is positive. Therefore K w
// stays positive, and w tends to the volume around each sample divided by (2 pi)^dim.
std::vector<float> density_weights(Model& model, const Settings& s, std::size_t samples) {
  std::vector<float> triangle(static_cast<std::size_t>(s.size));
  for (std::int64_t i = 0; i < s.size; ++i)
    triangle[static_cast<std::size_t>(i)] =
        1 - std::fabs(static_cast<float>(2 * (i - s.size / 2)) / static_cast<float>(s.size + 1));
  std::vector<float> weights(samples, 1);
  const auto n = static_cast<std::size_t>(s.size);
  for (int step = 0; step < s.density_iterations; ++step) {
    Samples image = model.adjoint(Samples(weights.begin(), weights.end()));
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] *= triangle[i % n] * triangle[i / n % n] * (s.dim == 3 ? triangle[i / (n * n)] : 1);
    const Samples smoothed = model.forward(std::move(image));
    for (std::size_t j = 0; j < samples; ++j) weights[j] /= std::abs(smoothed[j]);
  }
  return weights;
}

Samples weighted(Samples samples, const std::vector<float>& weights) {
  for (std::size_t j = 0; j < samples.size(); ++j) samples[j] *= weights[j];
  return samples;
}

double square_norm(const Samples& v) {
  double sum = 0;
  for (const auto& value : v) sum += static_cast<double>(std::norm(value));
  return sum;
}

// Conjugate gradients on the normal equations A* W A x = b, starting at x = b.
Samples solve(Model& model, const std::vector<float>& weights, const Samples& b, int iterations) {
  Samples x = b, product = model.adjoint(weighted(model.forward(x), weights)), residual = b;
  for (std::size_t i = 0; i < b.size(); ++i) residual[i] -= product[i];
  Samples direction = residual;
  double norm = square_norm(residual);
  for (int step = 0; step < iterations && norm > 0; ++step) {
    const Samples samples = model.forward(direction);
    double curvature = 0;
    for (std::size_t j = 0; j < samples.size(); ++j)
      curvature += static_cast<double>(weights[j] * std::norm(samples[j]));
    product = model.adjoint(weighted(samples, weights));
    const auto alpha = static_cast<float>(norm / curvature);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * direction[i];
      residual[i] -= alpha * product[i];
    }
    const double next = square_norm(residual);
    const auto beta = static_cast<float>(next / norm);
    for (std::size_t i = 0; i < x.size(); ++i) direction[i] = residual[i] + beta * direction[i];
    norm = next;
  }
  return x;
}

std::string error_text(const Samples& image, const std::vector<float>& truth) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    error += static_cast<double>(std::norm(image[i] - truth[i]));
    norm += static_cast<double>(truth[i] * truth[i]);
  }
  char text[64];
  std::snprintf(text, sizeof text, "relative error %.4f", std::sqrt(error / norm));
  return text;
}

// The values of the middle plane (absolute values for complex images).
template <typename T>
std::vector<float> middle_plane(const std::vector<T>& image, const Settings& s) {
  const auto plane = static_cast<std::size_t>(s.size * s.size);
  const std::size_t first = s.dim == 3 ? plane * static_cast<std::size_t>(s.size / 2) : 0;
  std::vector<float> values(plane);
  for (std::size_t i = 0; i < plane; ++i) values[i] = std::abs(image[first + i]);
  return values;
}

void reconstruct(const Settings& s) {
  Stopwatch watch;
  const auto phantom = shepp_logan(s.dim);
  const std::vector<float> truth = render(phantom, s.dim, s.size);
  const auto points = trajectory(s.trajectory, s.dim, s.size, s.density);
  const Samples samples = fourier_samples(phantom, s.dim, s.size, points);
  watch.report("phantom and samples", 1, std::to_string(samples.size()) + " samples");

  Model model(s, points);
  watch.report("create and set points");
  const std::vector<float> weights = density_weights(model, s, samples.size());
  watch.report("density compensation", s.density_iterations);
  const Samples adjoint = model.adjoint(weighted(samples, weights));
  watch.report("adjoint", 1, error_text(adjoint, truth));
  const Samples solution = solve(model, weights, adjoint, s.iterations);
  watch.report("conjugate gradients", s.iterations, error_text(solution, truth));

  write_png(s.out, s.size, {middle_plane(truth, s), middle_plane(adjoint, s), middle_plane(solution, s)});
  std::printf("plan: %s\nwrote %s (truth, adjoint, conjugate gradients)\n", model.transform().plan().c_str(),
              s.out.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reconstructs a head phantom from nonuniform samples of its Fourier transform");
  Settings s;
  app.add_option("--dim", s.dim, "dimensions")->check(CLI::IsMember({2, 3}))->capture_default_str();
  app.add_option("--size", s.size, "pixels a side (256 in 2D, 48 in 3D)")->check(CLI::Range(8, 4096));
  app.add_option("--trajectory", s.trajectory, "sampling")
      ->check(CLI::IsMember({"spiral", "radial", "random"}))
      ->capture_default_str();
  app.add_option("--density", s.density, "samples along the trajectory, relative to the usual number")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  app.add_option("--iterations", s.iterations, "conjugate-gradient steps")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--density-iterations", s.density_iterations, "steps of the density compensation")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--tol", s.tol, "tolerance of the transforms")->capture_default_str();
  app.add_option("--threads", s.threads, "threads (0: all)")->check(CLI::Range(0, 4096))->capture_default_str();
  app.add_option("--db", s.databases, "plan database (repeatable, later ones win)");
  app.add_option("--out", s.out, "PNG file: truth, adjoint, conjugate gradients")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (s.size == 0) s.size = s.dim == 2 ? 256 : 48;
  try {
    reconstruct(s);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reconstruct: %s\n", error.what());
    return 1;
  }
  return 0;
}
