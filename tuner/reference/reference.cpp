#include "tuner/reference/reference.h"

#include <algorithm>
#include <numeric>

#include "base/layout.h"
#include "tuner/reference/phase.h"
#include "tuner/reference/threads.h"

namespace fourtune::tuner {
namespace {

using Mode = std::array<std::int64_t, 3>;
// Positions and turns of one point or output along each dimension.
using Position = std::array<std::int64_t, most_dimensions>;
using TurnsOf = std::array<Turns, most_dimensions>;

// Real and imaginary parts of a block.
struct Block {
  alignas(64) std::array<double, kPhaseBlock> re, im;
};
struct TurnBlock {
  alignas(64) std::array<double, kPhaseBlock> hi, lo;
};

void require_sign(int sign) {
  if (sign != 1 && sign != -1) throw Error(Status::invalid_argument, "sign must be -1 or 1");
}

// Runs body(first, last, sums) over parts of 0 .. count-1 in parallel and adds the parts in order, so that the result
// does not depend on the number of threads. `sums` has `outputs` entries.
template <typename F>
void sum_in_parts(std::int64_t count, std::size_t outputs, ComplexSpan out, const F& body) {
  const std::int64_t parts = std::clamp<std::int64_t>(count, 1, 128);
  std::vector<std::vector<CompensatedSum>> partial(static_cast<std::size_t>(parts));
  on_all_threads(parts, 1, [&](std::int64_t p) {
    auto& sums = partial[static_cast<std::size_t>(p)];
    sums.resize(outputs);
    body(count / parts * p + std::min(p, count % parts), count / parts * (p + 1) + std::min(p + 1, count % parts),
         sums);
  });
  for (std::size_t i = 0; i < outputs; ++i) {
    CompensatedSum total;
    for (const auto& sums : partial) total.add(sums[i]);
    out[i] = total.value();
  }
}

template <typename T>
void load(const std::complex<T>* values, int count, Block& block) {
  for (int j = 0; j < count; ++j) {
    block.re[static_cast<std::size_t>(j)] = static_cast<double>(values[j].real());
    block.im[static_cast<std::size_t>(j)] = static_cast<double>(values[j].imag());
  }
}

// ---- type 1 --------------------------------------------------------------------------------------------------------
// The listed modes as positions in lists of distinct k_d, ordered so that products over z and y are shared.
struct ModeTable {
  std::array<std::vector<std::int64_t>, 3> distinct;
  std::vector<std::array<std::size_t, 3>> position;  // of mode order[i]
  std::vector<std::size_t> order;

  ModeTable(std::span<const Mode> modes, int dim) : position(modes.size()), order(modes.size()) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) {
      for (const Mode& mode : modes) distinct[d].push_back(mode[d]);
      std::sort(distinct[d].begin(), distinct[d].end());
      distinct[d].erase(std::unique(distinct[d].begin(), distinct[d].end()), distinct[d].end());
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::lexicographical_compare(modes[a].rbegin(), modes[a].rend(), modes[b].rbegin(), modes[b].rend());
    });
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) {
        const auto& list = distinct[d];
        const auto found = std::lower_bound(list.begin(), list.end(), modes[order[i]][d]);
        position[i][d] = static_cast<std::size_t>(found - list.begin());
      }
  }
};

// One block of points. Holds the phases of every distinct k_d and computes strengths * z phase * y phase . x phase.
class Type1Block {
 public:
  Type1Block(const ModeTable& table, int dim, int sign) : table_(table), dim_(dim), sign_(sign) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) phases_[d].resize(table.distinct[d].size());
  }

  template <typename T>
  void add(const PointView<T>& points, const std::complex<T>* strengths, std::int64_t first, int count,
           std::vector<CompensatedSum>& sums) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim_); ++d) {
      for (int j = 0; j < count; ++j) {
        const Turns turns = fold_turns(static_cast<double>(points.x[d][first + j]));
        x_.hi[static_cast<std::size_t>(j)] = turns.hi;
        x_.lo[static_cast<std::size_t>(j)] = turns.lo;
      }
      for (std::size_t i = 0; i < phases_[d].size(); ++i) {
        t_.hi.fill(0);
        t_.lo.fill(0);
        const auto k = static_cast<double>(sign_ * table_.distinct[d][i]);
        add_turns(count, k, x_.hi.data(), x_.lo.data(), t_.hi.data(), t_.lo.data());
        unit_phases(count, t_.hi.data(), t_.lo.data(), phases_[d][i].re.data(), phases_[d][i].im.data());
      }
    }
    load(strengths + first, count, c_);
    const Block* weight = &c_;
    constexpr std::size_t kNone = ~std::size_t{0};
    std::array<std::size_t, 3> last{kNone, kNone, kNone};
    for (std::size_t i = 0; i < table_.order.size(); ++i) {
      const auto& at = table_.position[i];
      if (dim_ == 3 && at[2] != last[2]) {
        times(count, c_, phases_[2][at[2]], cz_);
        last = {kNone, kNone, at[2]};
      }
      if (dim_ >= 2 && at[1] != last[1]) {
        times(count, dim_ == 3 ? cz_ : c_, phases_[1][at[1]], czy_);
        last[1] = at[1];
        weight = &czy_;
      }
      const Block& px = phases_[0][at[0]];
      sums[table_.order[i]].add(dot(count, weight->re.data(), weight->im.data(), px.re.data(), px.im.data()));
    }
  }

 private:
  static void times(int count, const Block& a, const Block& b, Block& out) {
    multiply(count, a.re.data(), a.im.data(), b.re.data(), b.im.data(), out.re.data(), out.im.data());
  }

  const ModeTable& table_;
  int dim_, sign_;
  std::array<std::vector<Block>, 3> phases_;
  TurnBlock x_, t_;
  Block c_, cz_, czy_;
};

std::int64_t blocks_of(std::int64_t count) { return (count + kPhaseBlock - 1) / kPhaseBlock; }
int block_length(std::int64_t block, std::int64_t count) {
  return static_cast<int>(std::min<std::int64_t>(kPhaseBlock, count - block * kPhaseBlock));
}

// ---- sums over a lattice: type 2 and fft ---------------------------------------------------------------------------
// out[i] = sum over j in [first, first+n) of value(j) exp(2 pi i sum_d j_d b_d[i]). `row(at, count, block)` loads
// values from storage positions, the first of which is `at`. Handles at most kPhaseBlock outputs.
template <typename Row>
void lattice_sums(const Sizes& n, const Position& first, std::span<const TurnsOf> outputs, const Row& row,
                  ComplexSpan out) {
  const int count = static_cast<int>(outputs.size());
  std::array<TurnBlock, most_dimensions> b;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t d = 0; d < b.size(); ++d) {
      b[d].hi[i] = outputs[i][d].hi;
      b[d].lo[i] = outputs[i][d].lo;
    }
  // Phases along x within a row segment; each segment's start is computed exactly below.
  const int length = static_cast<int>(std::min<std::int64_t>(n[0], kPhaseBlock));
  std::vector<Block> along(outputs.size());
  std::array<double, kPhaseBlock> steps;
  std::iota(steps.begin(), steps.end(), 0.0);
  on_all_threads(std::ssize(outputs), 16, [&](std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    TurnBlock t{};
    add_turns(length, steps.data(), outputs[i][0], t.hi.data(), t.lo.data());
    unit_phases(length, t.hi.data(), t.lo.data(), along[i].re.data(), along[i].im.data());
  });
  const std::int64_t segments = blocks_of(n[0]);
  sum_in_parts(segments * n[1] * n[2] * n[3], outputs.size(), out,
               [&](std::int64_t low, std::int64_t high, auto& sums) {
                 Block values, anchor;
                 for (std::int64_t s = low; s < high; ++s) {
                   Position at{s % segments * kPhaseBlock};
                   std::int64_t rest = s / segments;
                   for (std::size_t d = 1; d < at.size(); rest /= n[d++]) at[d] = rest % n[d];
                   const int here = block_length(s % segments, n[0]);
                   TurnBlock t{};
                   for (std::size_t d = 0; d < at.size(); ++d) {
                     if (n[d] == 1) continue;  // its only position is 0
                     add_turns(count, static_cast<double>(first[d] + at[d]), b[d].hi.data(), b[d].lo.data(),
                               t.hi.data(), t.lo.data());
                   }
                   unit_phases(count, t.hi.data(), t.lo.data(), anchor.re.data(), anchor.im.data());
                   row(at, here, values);
                   for (std::size_t i = 0; i < outputs.size(); ++i)
                     sums[i].add(std::complex<double>(anchor.re[i], anchor.im[i]) *
                                 dot(here, values.re.data(), values.im.data(), along[i].re.data(), along[i].im.data()));
                 }
               });
}

// Calls lattice_sums for at most kPhaseBlock outputs at a time; turns(i) gives those of output i.
template <typename Row, typename F>
void lattice_sums_of(std::size_t outputs, const Sizes& n, const Position& first, const F& turns, const Row& row,
                     ComplexSpan out) {
  std::vector<TurnsOf> part;
  for (std::size_t low = 0; low < outputs; low += kPhaseBlock) {
    const std::size_t high = std::min<std::size_t>(outputs, low + kPhaseBlock);
    part.clear();
    for (std::size_t i = low; i < high; ++i) part.push_back(turns(i));
    lattice_sums(n, first, part, row, out.subspan(low, high - low));
  }
}

template <typename T>
void fft_sums_of(const Problem& problem, const T* input, std::int64_t transform, std::span<const std::int64_t> which,
                 ComplexSpan out) {
  const ArrayLayout layout = resolved_input_layout(problem);
  const Sizes in = input_sizes(problem), result = output_sizes(problem);
  const ArrayPlaces places(problem, true);
  const auto row = [&](const Position& at, int count, Block& block) {
    const std::int64_t x0 = at[0];
    const T* source = input + transform * layout.distance;
    for (std::size_t d = 1; d < at.size(); ++d) source += places.along(d, at[d]);
    for (int j = 0; j < count; ++j) {
      const T value = source[places.along(0, x0 + j)];
      // A half spectrum stands for k_x and n - k_x, whose terms are complex conjugates.
      const bool twice = problem.fft_type == FftType::c2r && x0 + j != 0 && 2 * (x0 + j) != problem.n[0];
      block.re[static_cast<std::size_t>(j)] = (twice ? 2 : 1) * static_cast<double>(std::real(value));
      block.im[static_cast<std::size_t>(j)] = (twice ? 2 : 1) * static_cast<double>(std::imag(value));
    }
  };
  const auto turns = [&](std::size_t i) {
    TurnsOf b;
    std::int64_t rest = which[i];
    for (std::size_t d = 0; d < b.size(); ++d) {
      b[d] = signed_turns(ratio_turns(rest % result[d], problem.n[d]), problem.sign);
      rest /= result[d];
    }
    return b;
  };
  lattice_sums_of(which.size(), in, {}, turns, row, out);
  if (problem.fft_type == FftType::c2r)
    for (auto& value : out) value = value.real();
}

}  // namespace

std::array<std::int64_t, 3> mode_of(std::int64_t index, const std::array<std::int64_t, 3>& n, ModeOrder order) {
  Mode mode{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t i = index % n[d];
    mode[d] = order == ModeOrder::centred ? i - n[d] / 2 : i < (n[d] + 1) / 2 ? i : i - n[d];
    index /= n[d];
  }
  return mode;
}

std::int64_t index_of(const std::array<std::int64_t, 3>& mode, const std::array<std::int64_t, 3>& n, ModeOrder order) {
  std::int64_t index = 0;
  for (std::size_t d = 3; d-- > 0;) {
    const std::int64_t i = order == ModeOrder::centred ? mode[d] + n[d] / 2 : mode[d] < 0 ? mode[d] + n[d] : mode[d];
    index = index * n[d] + i;
  }
  return index;
}

template <typename T>
void type1_sums(const PointView<T>& points, const std::complex<T>* strengths, int sign,
                std::span<const std::array<std::int64_t, 3>> modes, ComplexSpan out) {
  require_sign(sign);
  const ModeTable table(modes, points.dim);
  sum_in_parts(blocks_of(points.count), modes.size(), out, [&](std::int64_t low, std::int64_t high, auto& sums) {
    Type1Block block(table, points.dim, sign);
    for (std::int64_t i = low; i < high; ++i)
      block.add(points, strengths, i * kPhaseBlock, block_length(i, points.count), sums);
  });
}

template <typename T>
void type2_sums(const PointView<T>& points, const std::complex<T>* modes, int sign,
                const std::array<std::int64_t, 3>& n, ModeOrder order, std::span<const std::int64_t> which,
                ComplexSpan out) {
  require_sign(sign);
  const auto row = [&](const Position& at, int count, Block& block) {
    // Rows are visited in centred order; in FFT order, mode k is stored at k modulo n.
    const auto place = [&](std::int64_t i, std::size_t d) {
      return order == ModeOrder::centred ? i : (i + n[d] - n[d] / 2) % n[d];
    };
    const std::complex<T>* source = modes + n[0] * (place(at[1], 1) + n[1] * place(at[2], 2));
    if (order == ModeOrder::centred) return load(source + at[0], count, block);
    for (int j = 0; j < count; ++j) {
      block.re[static_cast<std::size_t>(j)] = static_cast<double>(source[place(at[0] + j, 0)].real());
      block.im[static_cast<std::size_t>(j)] = static_cast<double>(source[place(at[0] + j, 0)].imag());
    }
  };
  const auto turns = [&](std::size_t i) {
    TurnsOf b{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(points.dim); ++d)
      b[d] = signed_turns(fold_turns(static_cast<double>(points.x[d][which[i]])), sign);
    return b;
  };
  lattice_sums_of(which.size(), n, {-(n[0] / 2), -(n[1] / 2), -(n[2] / 2)}, turns, row, out);
}

template <typename T>
void type3_sums(const PointView<T>& sources, const std::complex<T>* strengths, int sign, const PointView<T>& targets,
                std::span<const std::int64_t> which, ComplexSpan out) {
  require_sign(sign);
  const auto dim = static_cast<std::size_t>(sources.dim);
  std::vector<std::array<Turns, 3>> turns(which.size());
  for (std::size_t i = 0; i < which.size(); ++i)
    for (std::size_t d = 0; d < dim; ++d)
      turns[i][d] = signed_turns(to_turns(static_cast<double>(targets.x[d][which[i]])), sign);
  sum_in_parts(blocks_of(sources.count), which.size(), out, [&](std::int64_t low, std::int64_t high, auto& sums) {
    std::array<std::array<double, kPhaseBlock>, 3> x;
    Block c, phase;
    for (std::int64_t block = low; block < high; ++block) {
      const std::int64_t first = block * kPhaseBlock;
      const int count = block_length(block, sources.count);
      for (std::size_t d = 0; d < dim; ++d)
        for (int j = 0; j < count; ++j)
          x[d][static_cast<std::size_t>(j)] = static_cast<double>(sources.x[d][first + j]);
      load(strengths + first, count, c);
      for (std::size_t i = 0; i < which.size(); ++i) {
        TurnBlock t{};
        for (std::size_t d = 0; d < dim; ++d) add_turns(count, x[d].data(), turns[i][d], t.hi.data(), t.lo.data());
        unit_phases(count, t.hi.data(), t.lo.data(), phase.re.data(), phase.im.data());
        sums[i].add(dot(count, c.re.data(), c.im.data(), phase.re.data(), phase.im.data()));
      }
    }
  });
}

void fft_sums(const Problem& problem, const void* input, std::int64_t transform, std::span<const std::int64_t> which,
              ComplexSpan out) {
  const bool real = problem.fft_type == FftType::r2c;
  if (problem.precision == Precision::f32)
    real ? fft_sums_of(problem, static_cast<const float*>(input), transform, which, out)
         : fft_sums_of(problem, static_cast<const std::complex<float>*>(input), transform, which, out);
  else
    real ? fft_sums_of(problem, static_cast<const double*>(input), transform, which, out)
         : fft_sums_of(problem, static_cast<const std::complex<double>*>(input), transform, which, out);
}

#define FOURTUNE_INSTANTIATE(T)                                                                                     \
  template void type1_sums<T>(const PointView<T>&, const std::complex<T>*, int,                                     \
                              std::span<const std::array<std::int64_t, 3>>, ComplexSpan);                           \
  template void type2_sums<T>(const PointView<T>&, const std::complex<T>*, int, const std::array<std::int64_t, 3>&, \
                              ModeOrder, std::span<const std::int64_t>, ComplexSpan);                               \
  template void type3_sums<T>(const PointView<T>&, const std::complex<T>*, int, const PointView<T>&,                \
                              std::span<const std::int64_t>, ComplexSpan);
FOURTUNE_INSTANTIATE(float)
FOURTUNE_INSTANTIATE(double)
#undef FOURTUNE_INSTANTIATE

}  // namespace fourtune::tuner
