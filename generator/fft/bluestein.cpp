// Bluestein's algorithm in one kernel a dimension: pad and multiply by the chirp, forward DFT of a power of two,
// multiply by the transformed chirp, inverse DFT, multiply by the chirp and cut. The inverse runs through the digits
// backwards, so its first DFT finds its values where the forward one's last left them.
#include "generator/fft/bluestein.h"

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

// exp(-...) of any length, quick where it has small factors: by decimation in time, `stride` apart in x. `turns` has
// the powers of exp(-2 pi i / N), N a multiple of n, `apart` of them between those of n.
std::vector<Complex> host_fft(const Complex* x, std::int64_t n, std::int64_t stride, const std::vector<Complex>& turns,
                              std::int64_t apart) {
  if (n == 1) return {*x};
  std::int64_t p = 2;
  while (n % p) ++p;
  const std::int64_t part = n / p;
  std::vector<Complex> out(at(n));
  for (std::int64_t r = 0; r < p; ++r) {
    std::vector<Complex> sub = host_fft(x + r * stride, part, stride * p, turns, apart * p);
    for (std::int64_t k = 0; k < part; ++k) {
      const Complex value = r == 0 ? sub[at(k)] : sub[at(k)] * turns[at(r * k * apart)];
      out[at(k)] += value;
      if (p == 2) out[at(k + part)] += r == 0 ? value : -value;
      for (std::int64_t q = 1; p > 2 && q < p; ++q)
        out[at(k + q * part)] += value * turns[at(q * r % p * part * apart)];
    }
  }
  return out;
}

std::vector<int> powers_of_two(std::int64_t m) {
  std::vector<int> radices;
  while (m > 1) {
    const int r = m >= 256 || m == 16 ? 16 : m >= 64 ? 8 : static_cast<int>(std::min<std::int64_t>(m, 16));
    radices.push_back(r), m /= r;
  }
  return radices;
}

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

}  // namespace

// DFT of the chirp's conjugate, over m, so that an unscaled inverse follows.
std::vector<Complex> filter(std::int64_t n, std::int64_t m, int sign) {
  std::vector<Complex> b(at(m));
  for (std::int64_t j = 0; j < n; ++j)
    b[at(j)] = b[at((m - j) % m)] = std::conj(chirp(j, n, sign)) / static_cast<long double>(m);
  std::vector<Complex> turns(at(m));
  for (std::int64_t j = 0; j < m; ++j)
    turns[at(j)] = std::polar<long double>(
        1, -2 * std::numbers::pi_v<long double> * static_cast<long double>(j) / static_cast<long double>(m));
  return host_fft(b.data(), m, 1, turns, 1);
}

std::vector<Complex> chirps(std::int64_t n, int sign) {
  std::vector<Complex> out;
  for (std::int64_t j = 0; j < n; ++j) out.push_back(chirp(j, n, sign));
  return out;
}

std::int64_t bluestein_length(std::int64_t n) {
  std::int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  return m;
}

std::int64_t convolution_length(std::int64_t n) {
  for (std::int64_t m = (2 * n - 1 + 15) / 16 * 16;; m += 16) {
    std::int64_t left = m;
    for (const std::int64_t p : {2, 3, 5, 7})
      while (left % p == 0) left /= p;
    if (left == 1) return m;
  }
}

std::int64_t most_convolved(Precision precision) { return precision == Precision::f32 ? 8192 : 4096; }

PlannedPass bluestein_pass(const EmitOptions& options, int d, const Lines& lines) {
  PlannedPass out;
  PassSpec& pass = out.spec;
  const std::int64_t n = lines.n[at(d)], m = bluestein_length(n);
  const std::int64_t most = most_convolved(options.precision);
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
  const DimensionHooks& hooks = options.hooks[at(d)];
  const bool own_store = !hooks.output_factors.empty();  // else both products are with the same table
  for (Port* port : {&pass.load, &pass.store}) {
    const bool loads = port == &pass.load;
    const std::int64_t stride = (loads ? lines.load : lines.store)[at(d)];
    port->values = loads ? lines.loaded : lines.stored;
    if (port->values == Values::hermitian)
      port->mirror = {Window::Kind::head, load, n, n / 2 + 1, stride};
    else
      for (const auto& term : load) port->address.push_back({term.atom, term.weight * stride});
    port->bounds.push_back({load, loads ? n : lines.kept});
    port->factors.push_back({load, loads || !own_store ? 0 : 2, true});
  }
  pass.extra_tables = own_store ? 3 : 2;
  const auto turns = [&](const std::vector<double>& factors) {
    std::vector<Complex> values = chirps(n, options.sign);
    for (std::size_t i = 0; i < factors.size(); ++i) values[i] *= static_cast<long double>(factors[i]);
    values.resize(at(m));
    return complex_table(values, options.precision);
  };
  out.tables = {turns(hooks.input_factors), complex_table(filter(n, m, options.sign), options.precision)};
  if (own_store) out.tables.push_back(turns(hooks.output_factors));
  if (!own_store && !hooks.input_factors.empty())
    pass.store.factors[0].table = 2, pass.extra_tables = 3, out.tables.push_back(turns({}));
  const std::int64_t tile =
      std::max<std::int64_t>(1, std::min<std::int64_t>(options.precision == Precision::f32 ? 16 : 8, most / 2 / m));
  add_lines(pass, lines, d, tile);
  std::int64_t others = 1, last = 0;
  for (int other = 0; other < 4; ++other) {
    if (other != d) others *= lines.n[at(other)];
    last += (lines.n[at(other)] - 1) * std::max(lines.load[at(other)], lines.store[at(other)]);
  }
  pass.loaded = others * (lines.loaded == Values::hermitian ? n / 2 + 1 : n), pass.stored = others * lines.kept;
  pass.wide = last > 0x7fffffff;
  pass.threads = static_cast<int>(std::clamp<std::int64_t>(tile_values(pass) / 16 / 32 * 32, 32, 512));
  arrange(pass, transforms);
  return out;
}

}  // namespace fourtune::generator::fft
