#include "runtime/arguments.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

namespace fourtune::runtime {

Problem reachable(Problem problem, bool clamp) {
  const double least = epsilon(problem.precision) / 2;
  if (problem.kind == Kind::nufft && problem.tol < least) {
    if (!clamp)
      throw Error(Status::tolerance_unreachable,
                  fmt::format("tol={:g} is below what {} can give; the least is {:.2g} (or set the clamp option)",
                              problem.tol, to_string(problem.precision), least));
    problem.tol = least;
  }
  return problem;
}

void check_alignment(const void* array, Precision precision, const char* name) {
  const auto bytes = static_cast<std::uintptr_t>(real_bytes(precision));
  if (const auto off = reinterpret_cast<std::uintptr_t>(array) % bytes; off != 0)
    throw Error(Status::invalid_argument,
                fmt::format("{} starts {} bytes past a multiple of {}, the size of an {} number", name, off, bytes,
                            to_string(precision)));
}

void check_points(const Problem& problem, const Points& points) {
  const auto bad = [](const std::string& message) { throw Error(Status::invalid_argument, message); };
  if (problem.kind == Kind::fft) bad("set_points: an fft has no points");
  if (points.m < 0 || points.k < 0)
    bad(fmt::format("set_points: counts m={}, k={} must not be negative", points.m, points.k));
  const void* sources[] = {points.x, points.y, points.z};
  const void* targets[] = {points.s, points.t, points.u};
  for (int d = 0; d < 3; ++d) {
    if (d < problem.dim && points.m > 0 && !sources[d]) bad(fmt::format("set_points: {} is null", "xyz"[d]));
    if (d >= problem.dim && sources[d])
      bad(fmt::format("set_points: {} is given, but the problem has dim={}", "xyz"[d], problem.dim));
    if (problem.type == 3 && d < problem.dim && points.k > 0 && !targets[d])
      bad(fmt::format("set_points: {} is null", "stu"[d]));
    if ((problem.type != 3 || d >= problem.dim) && targets[d])
      bad(fmt::format("set_points: target array {} is given, but the problem has none", "stu"[d]));
    static constexpr const char* names[] = {"set_points: x", "set_points: y", "set_points: z",
                                            "set_points: s", "set_points: t", "set_points: u"};
    check_alignment(sources[d], problem.precision, names[d]);
    check_alignment(targets[d], problem.precision, names[3 + d]);
  }
  if (problem.type != 3 && points.k != 0)
    bad(fmt::format("set_points: k={} targets, but only type 3 has targets", points.k));
}

void check_arrays(const Problem& problem, bool points_set, const void* point_values, const void* mode_values) {
  const bool nufft = problem.kind == Kind::nufft;
  if (nufft && !points_set) throw Error(Status::points_not_set, "execute: call set_points first");
  const bool no_points = nufft && *problem.m == 0;
  const bool no_targets = nufft && problem.type == 3 && *problem.k == 0;
  if ((!point_values && !no_points) || (!mode_values && !no_targets))
    throw Error(Status::invalid_argument,
                fmt::format("execute: {} is null", !point_values && !no_points ? "point_values" : "mode_values"));
  check_alignment(point_values, problem.precision, "execute: point_values");
  check_alignment(mode_values, problem.precision, "execute: mode_values");
  // Two arrays without elements may have one address.
  if (nufft && point_values && point_values == mode_values && !(no_points && no_targets))
    throw Error(Status::invalid_argument, "execute: point_values and mode_values are the same array");
}

void rethrow_named() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(Status::out_of_memory, "not enough memory for this problem and its plan");
  } catch (const std::length_error&) {
    throw Error(Status::out_of_memory, "the tables of this problem's plan are larger than any memory");
  }
}

}  // namespace fourtune::runtime
