// Bluestein's algorithm: its tables, and the distribution of its convolutions over kernels, threads and registers.
#include "generator/codegen/fft/any_length/bluestein.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "fourtune/status.h"
#include "generator/codegen/at.h"
#include "generator/codegen/fft/lower/roots.h"

namespace fourtune::generator::fft {
namespace {

using Complex = std::complex<long double>;

// DFT of any length with the kernel exp(-...), by decimation in time; fast if the length has small factors. Values are
// `stride` apart in x; turns are those of a multiple of n, the powers for n are `apart` apart.
void host_fft(const Complex* x, std::int64_t n, std::int64_t stride, const Roots& turns, std::int64_t apart,
              Complex* out) {
  if (n == 1) {
    *out = *x;
    return;
  }
  std::int64_t p = 2;
  while (n % p) ++p;
  const std::int64_t part = n / p;
  for (std::int64_t r = 0; r < p; ++r) host_fft(x + r * stride, part, stride * p, turns, apart * p, out + r * part);
  // The operator of std::complex looks for infinities, which takes most of its time.
  const auto times = [](const Complex& a, const Complex& b) {
    return Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  };
  std::vector<Complex> values(at(p)), powers(at(p));
  for (std::int64_t q = 0; q < p; ++q) powers[at(q)] = turns[q * part * apart];
  for (std::int64_t k = 0; k < part; ++k) {
    for (std::int64_t r = 0; r < p; ++r)
      values[at(r)] = r == 0 ? out[k] : times(out[r * part + k], turns[r * k * apart]);
    if (p == 2) {
      out[k] = values[0] + values[1], out[part + k] = values[0] - values[1];
      continue;
    }
    for (std::int64_t q = 0; q < p; ++q) {
      Complex sum = values[0];
      for (std::int64_t r = 1; r < p; ++r) sum += times(values[at(r)], powers[at(q * r % p)]);
      out[q * part + k] = sum;
    }
  }
}

}  // namespace

// DFT of the conjugate chirp, divided by m, so that an unscaled inverse DFT can follow.
std::vector<Complex> filter(std::int64_t n, std::int64_t m, int sign) {
  std::vector<Complex> b(at(m)), out(at(m));
  const std::vector<Complex> turned = chirps(n, -sign);
  for (std::int64_t j = 0; j < n; ++j) b[at(j)] = b[at((m - j) % m)] = turned[at(j)] / static_cast<long double>(m);
  host_fft(b.data(), m, 1, Roots(m, -1), 1, out.data());
  return out;
}

// The angle j^2 / (2n) of a turn is reduced exactly.
std::vector<Complex> chirps(std::int64_t n, int sign) {
  const Roots roots(2 * n, sign);
  std::vector<Complex> out;
  out.reserve(at(n));
  for (std::int64_t j = 0; j < n; ++j) out.push_back(roots[j * j % (2 * n)]);
  return out;
}

namespace {

// ---- shapes

using Radices = std::vector<int>;

// Instructions per value in a round: the codelet by its prime factors, the twiddle factor, and the exchange through
// shared memory (counted in emitted kernels).
double round_cost(int radix) {
  double cost = 13;
  for (const auto& [prime, each] : {std::pair(2, 2.3), {3, 4.2}, {5, 7.0}, {7, 10.0}})
    for (; radix % prime == 0; radix /= prime) cost += each;
  return cost;
}

bool smooth(std::int64_t n) {
  for (const std::int64_t p : {2, 3, 5, 7})
    while (n % p == 0) n /= p;
  return n == 1;
}

// Products of `rounds` radices, larger radices first, from `least` up to a quarter more.
template <class Use>
void for_radices(std::int64_t least, std::size_t rounds, int most, Radices& radices, std::int64_t product,
                 const Use& use) {
  if (radices.size() == rounds) {
    if (product >= least) use(radices, product);
    return;
  }
  for (int r = radices.empty() ? most : radices.back(); r >= 4; --r) {
    std::int64_t reach = product;
    for (std::size_t i = radices.size(); i < rounds; ++i) reach *= r;
    if (reach < least) break;  // smaller radices cannot reach it either
    if (product * r > least + least / 4 || !smooth(r)) continue;
    radices.push_back(r);
    for_radices(least, rounds, most, radices, product * r, use);
    radices.pop_back();
  }
}

// Share of the threads' slots that have a DFT to compute.
double used(std::int64_t values, const Radices& radices, int threads) {
  double slots = 0, all = 0;
  for (const int r : radices) {
    const std::int64_t groups = (values / r + threads - 1) / threads;
    slots += static_cast<double>(groups * r * threads) * round_cost(r);
    all += static_cast<double>(values) * round_cost(r);
  }
  return all / slots;
}

// A convolution in one kernel, and the estimated time of all its tiles: the instructions of all threads, with other
// costs counted as the instructions that a multiprocessor could have issued in that time.
struct InOne {
  ConvolutionShape shape;
  double cost = 0;
};

// Registers for resident tiles, where registers hold one DFT. Taken from the compiler's reports for sm_90.
std::int64_t registers_of(int radix, Precision precision) {
  if (precision == Precision::f64) return 7 * radix + 48;
  return 2 * radix + (radix > 21 ? 40 : 30);
}

// Number of blocks that leave this many registers to each thread; a quarter of the registers belongs to a quarter of
// the warps.
std::int64_t resident_with(std::int64_t registers, int threads, const DeviceTraits& device) {
  const std::int64_t warps = device.registers_per_multiprocessor / 4 / ((registers + 7) / 8 * 8 * 32) * 4;
  return warps / ((threads + 31) / 32);
}

// Ratio of the bytes of memory sectors to the bytes of a run that starts at a multiple of its length.
double sectors_over(std::int64_t run) {
  const std::int64_t touched = run % 32 == 0 ? run : 32 % run == 0 ? 32 : run + 32;
  return static_cast<double>(touched) / static_cast<double>(run);
}

// Estimates are relative. They were fitted to 60x2503x16 and 4099x64x8 in some forty shapes on an H200
// (docs/design/gpu-fft.md).
void consider(std::optional<InOne>& best, const Radices& radices, std::int64_t m, const ConvolutionArrays& arrays,
              const DeviceTraits& device) {
  constexpr double traffic = 30, latency = 51200, idle_warps = 0.25,
                   alone = 1.12;  // per value, per round, exponent, factor
  const std::int64_t value = 2 * real_bytes(arrays.precision), processors = std::max(1, device.multiprocessors);
  const std::int64_t registers = registers_of(radices.front(), arrays.precision);
  const auto rounds = static_cast<double>(2 * radices.size() - 1);
  double each = 0;
  for (const int r : radices) each += 2 * round_cost(r);
  for (std::int64_t lines = 1; lines <= std::min<std::int64_t>(16, arrays.neighbours); lines *= 2) {
    const std::int64_t values = lines * m, shared = values * value * 9 / 8;
    if (shared > device.shared_per_block) break;
    const std::int64_t tiles = (arrays.neighbours + lines - 1) / lines * arrays.others;
    const double moved = traffic * (arrays.contiguous ? 1 : sectors_over(value * lines));
    for (int threads = 32; threads <= 1024; threads += 32) {
      const std::int64_t blocks = std::min({resident_with(registers, threads, device),
                                            std::int64_t{device.threads_per_multiprocessor} / threads,
                                            device.shared_per_multiprocessor / (shared + 1024)});
      if (blocks < 1) break;
      const std::int64_t resident = std::min(blocks, (tiles + processors - 1) / processors);
      const auto waves = static_cast<double>((tiles + resident * processors - 1) / (resident * processors));
      const double busy = std::pow(std::min(1.0, static_cast<double>(resident * threads) / 640), idle_warps) *
                          std::sqrt(used(values, radices, threads));
      const double cost =
          waves * (static_cast<double>(resident * values) * (each / busy * (resident == 1 ? alone : 1) + moved) +
                   rounds * latency);
      if (!best || cost < best->cost)
        best =
            InOne{{m, radices, {}, {static_cast<int>(lines), 1, threads, static_cast<int>(resident), true}, {}}, cost};
    }
  }
}

// The fewest radices, up to three, as equal as possible, larger ones first; empty: there are none.
Radices few_radices(std::int64_t n, int most) {
  if (n <= 16) return {static_cast<int>(n)};
  for (std::size_t count = 2; count <= 3; ++count) {
    Radices best, radices;
    for_radices(n, count, most, radices, 1, [&](const Radices& found, std::int64_t product) {
      if (product == n && (best.empty() || found.front() < best.front())) best = found;
    });
    if (!best.empty()) return best;
  }
  return {};
}

int threads_of(std::int64_t values, const Radices& radices) {
  const std::int64_t most = std::max(8, radices.front());
  return static_cast<int>(std::clamp<std::int64_t>((values / most + 31) / 32 * 32, 32, 512));
}

// The largest divisor of n that is at most `most`.
std::int64_t divisor(std::int64_t n, std::int64_t most) {
  std::int64_t d = std::min(n, most);
  while (n % d) --d;
  return d;
}

}  // namespace

std::int64_t convolution_length(std::int64_t n) {
  for (std::int64_t m = (2 * n - 1 + 15) / 16 * 16;; m += 16)
    if (smooth(m)) return m;
}

std::optional<ConvolutionShape> shape_in_one(std::int64_t n, const ConvolutionArrays& arrays,
                                             const DeviceTraits& device) {
  std::optional<InOne> best;
  const int most = arrays.precision == Precision::f32 ? 24 : 20;
  for (std::size_t rounds = 1; rounds <= 4; ++rounds) {
    Radices radices;
    for_radices(2 * n - 1, rounds, most, radices, 1,
                [&](const Radices& found, std::int64_t m) { consider(best, found, m, arrays, device); });
  }
  // With one line per block, runs are 8 bytes long: 87 us for 48x5x10007 on an H200, compared with 56 us in three
  // kernels.
  const bool short_runs = !arrays.contiguous && arrays.precision == Precision::f32;
  if (!best || (short_runs && best->shape.ends.lines == 1 && arrays.neighbours > 1)) return {};
  return best->shape;
}

constexpr std::int64_t most_in_three = std::int64_t{1} << 20;  // 1024 by 1024
std::optional<ConvolutionShape> shape_in_three(std::int64_t n, const ConvolutionArrays& arrays,
                                               const DeviceTraits& device) {
  if (2 * n - 1 > most_in_three) return {};  // the search for a smooth length would be long
  const bool single = arrays.precision == Precision::f32;
  const std::int64_t run = single ? 16 : 8;
  const int most = single ? 32 : 16;
  for (std::int64_t m = convolution_length(n); m <= most_in_three; m = convolution_length(m / 2 + 1)) {
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(m)));
    for (std::int64_t first = root; 2 * first > root && first > 1; --first) {
      if (m % first) continue;
      ConvolutionShape shape{m, few_radices(first, most), few_radices(m / first, most), {}, {}};
      if (shape.first.empty() || shape.second.empty() || (arrays.contiguous && m / first % run != 0)) continue;
      const std::int64_t second = m / first;
      auto &ends = shape.ends, &middle = shape.middle;
      ends.lines = middle.lines = static_cast<int>(arrays.contiguous ? 1 : std::min(run, arrays.neighbours));
      const std::int64_t along = arrays.contiguous ? run : run / ends.lines;
      ends.along = static_cast<int>(divisor(second, along));
      ends.threads = threads_of(first * ends.lines * ends.along, shape.first);
      const std::int64_t held = device.shared_per_block / (2 * real_bytes(arrays.precision) * 9 / 8);
      const std::int64_t beside = arrays.contiguous ? std::min<std::int64_t>(4096, held) / second : along;
      middle.along = static_cast<int>(divisor(first, std::max<std::int64_t>(1, beside)));
      middle.threads = threads_of(second * middle.lines * middle.along, shape.second);
      for (const std::int64_t values : {first * ends.lines * ends.along, second * middle.lines * middle.along})
        if (values * real_bytes(arrays.precision) * 2 * 9 / 8 > device.shared_per_block) return {};
      return shape;
    }
  }
  return {};
}

}  // namespace fourtune::generator::fft
