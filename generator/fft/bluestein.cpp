// Bluestein's algorithm in one kernel a dimension: pad and multiply by the chirp, forward DFT of a power of two,
// multiply by the transformed chirp, inverse DFT, multiply by the chirp and cut. The inverse runs through the digits
// backwards, so its first DFT finds its values where the forward one's last left them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <numbers>

#include "fourtune/status.h"
#include "generator/fft/any_size.h"
#include "generator/fft/arrange.h"
#include "generator/fft/tables.h"

namespace fourtune::generator::fft {
namespace {

using Complex = std::complex<long double>;
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// exp(sign pi i j^2 / n), j < n; the angle is reduced exactly.
Complex chirp(std::int64_t j, std::int64_t n, int sign) {
  return std::polar<long double>(1, static_cast<long double>(sign) * std::numbers::pi_v<long double> *
                                        static_cast<long double>(j * j % (2 * n)) / static_cast<long double>(n));
}

// In place, a power of two, exp(-...).
void host_fft(std::vector<Complex>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t length = 2; length <= n; length *= 2)
    for (std::size_t k = 0; k < length / 2; ++k) {
      const Complex w = std::polar<long double>(
          1, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(length));
      for (std::size_t i = k; i < n; i += length) {
        const Complex u = x[i], v = x[i + length / 2] * w;
        x[i] = u + v, x[i + length / 2] = u - v;
      }
    }
}

// DFT of the chirp's conjugate, over m, so that an unscaled inverse follows.
std::vector<Complex> filter(std::int64_t n, std::int64_t m, int sign) {
  std::vector<Complex> b(at(m));
  for (std::int64_t j = 0; j < n; ++j)
    b[at(j)] = b[at((m - j) % m)] = std::conj(chirp(j, n, sign)) / static_cast<long double>(m);
  host_fft(b);
  return b;
}

std::vector<int> powers_of_two(std::int64_t m) {
  std::vector<int> radices;
  while (m > 1) {
    const int r = m >= 256 || m == 16 ? 16 : m >= 64 ? 8 : static_cast<int>(std::min<std::int64_t>(m, 16));
    radices.push_back(r), m /= r;
  }
  return radices;
}

// Strides of the arrays and lengths of the other dimensions.
struct Lines {
  std::array<std::int64_t, 4> n{1, 1, 1, 1}, load{}, store{};
};

void add_lines(PassSpec& pass, const Lines& lines, int d, std::int64_t tile) {
  bool carried = false;  // the fastest other dimension is the one that a tile carries
  for (int other = 0; other < 4; ++other) {
    if (other == d || lines.n[at(other)] == 1) continue;
    const std::int64_t n = lines.n[at(other)], in = carried ? 1 : std::min(tile, n);
    carried = true;
    const auto add = [&](std::int64_t size, std::int64_t weight, bool in_tile) {
      const int atom = static_cast<int>(pass.atoms.size());
      pass.atoms.push_back({fmt::format("line{}", atom), size, in_tile});
      pass.load.address.push_back({atom, lines.load[at(other)] * weight});
      pass.store.address.push_back({atom, lines.store[at(other)] * weight});
      if (!in_tile) pass.grid_order.push_back(atom);
      return atom;
    };
    Index index;
    if (in > 1) index.push_back({add(in, 1, true), 1});
    index.push_back({add((n + in - 1) / in, in, false), in});
    if (n % in) pass.load.bounds.push_back({index, n}), pass.store.bounds.push_back({index, n});
  }
}

PlannedPass line_pass(const EmitOptions& options, int d, const Lines& lines, bool bluestein) {
  PlannedPass out;
  PassSpec& pass = out.spec;
  const std::int64_t n = lines.n[at(d)], m = bluestein ? bluestein_length(n) : n;
  const std::int64_t most = options.precision == Precision::f32 ? 8192 : 4096;
  if (m > most)
    throw Error(Status::unsupported,
                fmt::format("length {} needs Bluestein's algorithm on {} values, a block holds {}", n, m, most));
  pass.precision = options.precision;
  pass.sign = options.sign;
  pass.twiddles = Twiddles::computed;
  pass.name = fmt::format("bluestein{}{}{}", n, "xyz"[d], options.sign < 0 ? "f" : "b");
  pass.title = fmt::format("DFTs of {} values along {} by convolutions of length {}", n, "xyz"[d], m);
  const std::vector<int> radices = powers_of_two(m);
  std::vector<std::int64_t> in, done;
  std::int64_t left = m, made = 1;
  Index load, frequency;
  for (const int r : radices) {
    const int atom = static_cast<int>(pass.atoms.size());
    left /= r;
    in.push_back(left), done.push_back(made);
    pass.atoms.push_back({fmt::format("k{}", atom), r, true});
    load.push_back({atom, left}), frequency.push_back({atom, made});
    made *= r;
  }
  std::vector<Transform> transforms;
  const int count = static_cast<int>(radices.size());
  for (int i = 0; i < count; ++i) {
    Transform t;
    t.sign = -1, t.digits = {i};
    if (i + 1 < count) t.period = in[at(i)] * radices[at(i)];
    for (int j = i + 1; j < count; ++j) t.index.push_back({j, in[at(j)]});
    transforms.push_back(t);
  }
  for (int i = count; i-- > 0;) {
    Transform t;
    t.sign = 1, t.digits = {i};
    if (i > 0) t.period = done[at(i)] * radices[at(i)];
    for (int j = 0; j < i; ++j) t.index.push_back({j, done[at(j)]});
    if (i + 1 == count) t.before = {Factor{frequency, 1, true}};
    transforms.push_back(t);
  }
  for (Port* port : {&pass.load, &pass.store}) {
    const std::int64_t stride = (port == &pass.load ? lines.load : lines.store)[at(d)];
    for (const auto& term : load) port->address.push_back({term.atom, term.weight * stride});
    port->bounds.push_back({load, n});
    port->factors.push_back({load, 0, true});
  }
  pass.extra_tables = 2;
  std::vector<Complex> chirps(at(m));
  for (std::int64_t j = 0; j < n; ++j) chirps[at(j)] = chirp(j, n, options.sign);
  out.tables = {complex_table(chirps, options.precision), complex_table(filter(n, m, options.sign), options.precision)};
  const std::int64_t tile =
      std::max<std::int64_t>(1, std::min<std::int64_t>(options.precision == Precision::f32 ? 16 : 8, most / 2 / m));
  add_lines(pass, lines, d, tile);
  pass.loaded = pass.stored = lines.n[0] * lines.n[1] * lines.n[2] * lines.n[3];
  pass.threads = static_cast<int>(std::clamp<std::int64_t>(tile_values(pass) / 16 / 32 * 32, 32, 512));
  arrange(pass, transforms);
  return out;
}

}  // namespace

std::int64_t bluestein_length(std::int64_t n) {
  std::int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  return m;
}

namespace {

ArrayLayout dense_layout(const EmitOptions& options) {
  return {{1, options.n[0], options.n[0] * options.n[1]}, options.n[0] * options.n[1] * options.n[2]};
}

// One dimension at a time: a plain plan of that dimension alone is not possible (strides), so codelet lengths next to a
// Bluestein length are convolved as well.
GpuProgram emit_by_lines(const EmitOptions& options) {
  PlannedProgram planned;
  const ArrayLayout in = options.input.value_or(dense_layout(options)),
                    to = options.output.value_or(dense_layout(options));
  bool first = true;
  for (int d = 0; d < 3; ++d) {
    if (options.n[at(d)] == 1) continue;
    Lines lines;
    const ArrayLayout& from = first ? in : to;
    for (int other = 0; other < 3; ++other)
      lines.n[at(other)] = options.n[at(other)], lines.load[at(other)] = from.stride[at(other)],
      lines.store[at(other)] = to.stride[at(other)];
    lines.n[3] = options.batch, lines.load[3] = from.distance, lines.store[3] = to.distance;
    PlannedPass pass = line_pass(options, d, lines, true);
    pass.from = first ? BufferRef::Where::first : BufferRef::Where::second;
    pass.to = BufferRef::Where::second;
    first = false;
    planned.passes.push_back(std::move(pass));
  }
  if (planned.passes.empty()) throw Error(Status::unsupported, "a transform of one value");
  planned.passes.back().spec.store.scale = options.scale;
  return emit_program(planned, options);
}

// One long line: the two DFTs of the convolution by plans of their own, the products on their loads and stores. The
// spectrum goes through workspace 2.
GpuProgram emit_long_line(const EmitOptions& options) {
  const std::int64_t n = options.n[0], m = bluestein_length(n);
  if (m > (std::int64_t{1} << 24))
    throw Error(Status::unsupported,
                fmt::format("length {} needs Bluestein's algorithm on {} values: at most 2^24", n, m));
  std::vector<Complex> chirps;
  for (std::int64_t j = 0; j < n; ++j) chirps.push_back(chirp(j, n, options.sign));
  Window head;
  head.kept = n;
  EmitOptions forward = options, inverse = options;
  forward.n[0] = inverse.n[0] = m;
  forward.sign = -1, inverse.sign = 1;
  forward.in_place = inverse.in_place = false;
  forward.scale = 1;
  const ArrayLayout dense{{1, m, m}, m}, own{{1, n, n}, n};
  forward.input = options.input.value_or(own), forward.output = dense;
  inverse.input = dense, inverse.output = options.output.value_or(own);
  forward.hooks[0].input = inverse.hooks[0].output = head;
  forward.hooks[0].input_turns = inverse.hooks[0].output_turns = chirps;
  forward.hooks[0].output_turns = filter(n, m, options.sign);
  PlannedProgram all = plan_passes(plain_plan(forward), forward), back = plan_passes(plain_plan(inverse), inverse);
  all.passes.back().to = back.passes.front().from = BufferRef::Where::workspace;
  all.passes.back().to_index = back.passes.front().from_index = 2;
  for (auto& pass : back.passes) pass.spec.name = "inverse" + pass.spec.name;
  std::move(back.passes.begin(), back.passes.end(), std::back_inserter(all.passes));
  all.work_values = m * options.batch;
  all.workspaces = 3;
  return emit_program(all, options);
}

}  // namespace

GpuProgram emit_any_size(const EmitOptions& options) {
  bool codelets = true, plain = options.type == FftType::c2c;
  for (int d = 0; d < 3; ++d) {
    const auto& hook = options.hooks[at(d)];
    codelets = codelets && has_codelets(options.n[at(d)]);
    plain = plain && !hook.input && !hook.output && hook.input_factors.empty() && hook.output_factors.empty();
  }
  if (codelets) return emit_program(plain_plan(options), options);
  if (!plain)
    throw Error(Status::unsupported, "a length with a prime factor above 61 needs a complex transform without hooks");
  const bool line = options.n[1] == 1 && options.n[2] == 1;
  const std::int64_t most = options.precision == Precision::f32 ? 8192 : 4096;
  return line && bluestein_length(options.n[0]) > most ? emit_long_line(options) : emit_by_lines(options);
}

}  // namespace fourtune::generator::fft
