// Family rows: transforms dimension by dimension, with lines in blocks that fit in cache.
//
// Steps, each a parallel loop over units that use disjoint memory:
// - many small transforms, or as many for each thread: one step, in which a unit is a whole transform;
// - 3D and 4D: a step whose units are x-y planes (both passes run while the plane is in cache), and a step along z, and
//   one along w, in blocks of lines; or units that are volumes, if these are small enough, and a step along w;
// - otherwise one step per dimension.
// c2c and r2c start along x, c2r ends there. The first pass reads the input and writes the output, so running out of
// place costs nothing extra; only c2r in more than one dimension needs a work array (half spectrum) to preserve its
// input.
#include <algorithm>
#include <memory>
#include <vector>

#include "generator/plan/fft_boxes.h"
#include "generator/plan/lane_radices.h"
#include "runtime/backends/cpu/fft/arrays.h"
#include "runtime/backends/cpu/fft/boxes.h"
#include "runtime/backends/cpu/fft/chirp.h"
#include "runtime/backends/cpu/fft/library.h"
#include "runtime/backends/cpu/fft/lines.h"
#include "runtime/backends/cpu/fft/long.h"
#include "runtime/backends/cpu/fft/operation.h"

namespace fourtune::runtime::cpu {
namespace {

// The units of fused passes should stay in a core's second-level cache, which is at least 1 MiB on server cores.
constexpr std::int64_t kFusedBytes = std::int64_t{8} << 20;
constexpr int kBatch = most_dimensions;
using Extent = std::array<std::int64_t, kBatch + 1>;  // x, y, z, w, batch

Extent strides_of(const ArrayLayout& layout) {
  return {layout.stride[0], layout.stride[1], layout.stride[2], layout.stride[3], layout.distance};
}
std::int64_t offset(const Extent& at, const Extent& stride) {
  std::int64_t sum = 0;
  for (int d = 0; d <= kBatch; ++d) sum += at[d] * stride[d];
  return sum;
}

enum Array { kIn, kMiddle, kOut };
enum class PassKind { complex, real_to_half, half_to_real };

template <class T>
struct Pass {
  int axis = 0;
  PassKind kind = PassKind::complex;
  Array from = kIn, to = kOut;
  int across = 0;  // axis along which the lines of a block are neighbours
  const LineFft<T>* fft = nullptr;
  int block() const { return fft->lines(); }
};

template <class T>
struct Step {
  std::vector<Pass<T>> passes;
  Extent unit{};  // size of the piece that one thread processes at a time
};

template <class T>
class RowsFft final : public FftRunner {
  using Value = std::complex<T>;

 public:
  explicit RowsFft(const FftOperation& op) : op_(op), size_{spectrum_size(op), op.n[1], op.n[2], op.n[3], op.batch} {
    conjugate_ = (op.type == FftType::r2c && op.sign > 0) || (op.type == FftType::c2r && op.sign < 0);
    stride_[kIn] = strides_of(op.in);
    stride_[kOut] = strides_of(op.out);
    stride_[kMiddle] = op.type == FftType::c2r ? stride_[kIn] : stride_[kOut];
    if (op.type == FftType::c2r && op.dim > 1 && !op.in_place) {
      const ArrayLayout dense = dense_layout(spectrum_sizes(op));
      stride_[kMiddle] = strides_of(dense);
      middle_ = AlignedBytes(dense.distance * op.batch * static_cast<std::int64_t>(sizeof(Value)));
    }
    make_steps(make_passes());
    for (const auto& fft : ffts_) {
      work_stride_ = fft ? std::max(work_stride_, (fft->work_bytes() + 4095) / 4096 * 4096 + 256) : work_stride_;
    }
    workers_ = team_size(op.threads);
    work_ = AlignedBytes(work_stride_ * workers_);
  }

  void run(const void* in, void* out) override {
    void* middle = op_.type == FftType::c2r && !op_.in_place ? middle_.as<void>() : out;
    const std::array<void*, 3> arrays{const_cast<void*>(in), middle, out};
    for (const Step<T>& step : steps_) run_step(step, arrays);
  }
  std::int64_t bytes() const override {
    std::int64_t sum = work_.bytes() + middle_.bytes();
    for (const auto& fft : ffts_) sum += fft ? fft->table_bytes() : 0;
    return sum;
  }
  std::int64_t more_bytes() const override {
    std::int64_t most = 0;
    for (const auto& fft : ffts_) most = std::max(most, fft ? fft->scratch_bytes() : 0);
    return workers_ * most;
  }
  std::string wisdom() const override {
    std::vector<std::string> texts;
    for (const auto& fft : ffts_) {
      if (fft) texts.push_back(fft->wisdom());
    }
    return merged_wisdom<T>(texts);
  }

 private:
  // Determines the order of the passes and the arrays between which each moves data.
  std::vector<Pass<T>> make_passes() {
    std::vector<int> axes;
    for (int d = 0; d < op_.dim; ++d) axes.push_back(d);
    if (op_.type == FftType::c2r) std::reverse(axes.begin(), axes.end());
    std::vector<Pass<T>> passes;
    for (const int axis : axes) {
      Pass<T> pass;
      pass.axis = axis;
      if (op_.type == FftType::c2r) {
        pass.from = passes.empty() ? kIn : kMiddle;
        pass.to = axis == 0 ? kOut : kMiddle;
        if (axis == 0) pass.kind = PassKind::half_to_real;
      } else {
        pass.from = passes.empty() ? kIn : kOut;
        pass.to = kOut;
        if (axis == 0 && op_.type == FftType::r2c) pass.kind = PassKind::real_to_half;
      }
      pass.across = across(pass);
      pass.fft = line_fft(pass);
      passes.push_back(pass);
    }
    return passes;
  }

  // The lines of a block are neighbours along the other axis with the smallest stride.
  int across(const Pass<T>& pass) const {
    int best = -1;
    for (int d = 0; d <= kBatch; ++d) {
      if (d == pass.axis || size_[d] == 1) continue;
      if (best < 0 || stride_[pass.to][d] < stride_[pass.to][best]) best = d;
    }
    return best >= 0 ? best : kBatch;
  }

  const LineFft<T>* line_fft(const Pass<T>& pass) {
    LineFftChoice choice{op_.n[pass.axis], op_.sign, size_[pass.across], op_.choice, op_.wisdom, pass.across != kBatch};
    if (pass.kind == PassKind::complex) {
      ffts_[pass.axis] = make_line_fft<T>(choice);
    } else {
      // The other sign is obtained by conjugating the result of r2c or the input of c2r.
      choice.sign = pass.kind == PassKind::real_to_half ? -1 : 1;
      ffts_[pass.axis] = make_real_line_fft<T>(choice);
    }
    return ffts_[pass.axis].get();
  }

  // Passes along axes below this run in one step while their values are in cache: all of them where the threads have
  // enough transforms each, else the most for which there are enough units of few enough bytes.
  int fused_dimensions() const {
    std::int64_t bytes = sizeof(Value), units = op_.batch;
    for (int d = 0; d < op_.dim; ++d) bytes *= size_[d];
    const bool apart = op_.threads == 1 ? units > 1 : generator::are_transforms_apart(units, op_.threads);
    if (apart && bytes <= kFusedBytes) return op_.dim;
    for (int dims = op_.dim - 1; dims > 1; --dims) {
      bytes /= size_[dims];
      units *= size_[dims];
      if (bytes <= kFusedBytes && units >= op_.threads) return dims;
    }
    return 1;
  }

  // A block of lines; less, but whole vectors of them, where there would be fewer blocks than threads.
  std::int64_t lines_of_a_unit(const Pass<T>& pass) const {
    const std::int64_t lanes = simd_fft_kernels<T>().lanes, lines = size_[pass.across];
    std::int64_t others = 1;
    for (int d = 0; d <= kBatch; ++d)
      if (d != pass.axis && d != pass.across) others *= size_[d];
    const std::int64_t parts = (op_.threads + others - 1) / others, share = (lines + parts - 1) / parts;
    return std::min({static_cast<std::int64_t>(pass.block()), lines, (share + lanes - 1) / lanes * lanes});
  }

  void make_steps(const std::vector<Pass<T>>& passes) {
    const int fused = fused_dimensions();
    std::vector<Step<T>> steps;
    for (const Pass<T>& pass : passes) {
      const bool join = !steps.empty() && pass.axis < fused && steps.back().passes[0].axis < fused;
      if (!join) steps.emplace_back();
      steps.back().passes.push_back(pass);
    }
    for (Step<T>& step : steps) {
      step.unit.fill(1);
      for (const Pass<T>& pass : step.passes) step.unit[pass.axis] = size_[pass.axis];
      if (step.passes.size() == 1) {
        const Pass<T>& pass = step.passes[0];
        step.unit[pass.across] = lines_of_a_unit(pass);
      }
    }
    steps_ = std::move(steps);
  }

  void run_step(const Step<T>& step, const std::array<void*, 3>& arrays) {
    Extent units;
    std::int64_t count = 1;
    for (int d = 0; d <= kBatch; ++d) {
      units[d] = (size_[d] + step.unit[d] - 1) / step.unit[d];
      count *= units[d];
    }
    parallel_for(workers_, count, [&](std::int64_t index, int worker) {
      Extent at, size;
      for (int d = 0; d <= kBatch; ++d) {
        at[d] = index % units[d] * step.unit[d];
        index /= units[d];
        size[d] = std::min(step.unit[d], size_[d] - at[d]);
      }
      run_unit(step, arrays, at, size, work_.as<char>() + worker * work_stride_);
    });
  }

  // Passes along x and y run plane by plane, while the plane is in cache.
  void run_unit(const Step<T>& step, const std::array<void*, 3>& arrays, const Extent& at, const Extent& size,
                void* work) const {
    const auto is_plane = [&](std::size_t pass) {
      return pass < step.passes.size() && step.passes[pass].axis < 2 && step.passes[pass].across < 2;
    };
    for (std::size_t pass = 0; pass < step.passes.size(); ++pass) {
      if (!is_plane(pass) || !is_plane(pass + 1)) {
        run_pass(step.passes[pass], arrays, at, size, work);
        continue;
      }
      Extent first = at, plane = size;
      plane[2] = plane[3] = 1;
      for (first[3] = at[3]; first[3] < at[3] + size[3]; ++first[3])
        for (first[2] = at[2]; first[2] < at[2] + size[2]; ++first[2])
          for (const std::size_t along : {pass, pass + 1}) run_pass(step.passes[along], arrays, first, plane, work);
      ++pass;
    }
  }

  // Transforms all lines of one box.
  void run_pass(const Pass<T>& pass, const std::array<void*, 3>& arrays, Extent at, Extent size, void* work) const {
    const Extent first = at;
    std::array<int, kBatch - 1> outer{};  // the axes along which blocks of lines follow each other
    std::int64_t blocks = 1;
    for (int d = 0, found = 0; d <= kBatch; ++d) {
      if (d == pass.axis || d == pass.across) continue;
      outer[found++] = d;
      blocks *= size[d];
    }
    for (std::int64_t block = 0; block < blocks; ++block) {
      std::int64_t rest = block;
      for (const int d : outer) {
        at[d] = first[d] + rest % size[d];
        rest /= size[d];
      }
      for (std::int64_t l = 0; l < size[pass.across]; l += pass.block()) {
        at[pass.across] = first[pass.across] + l;
        const auto count = static_cast<int>(std::min<std::int64_t>(pass.block(), size[pass.across] - l));
        run_block(pass, arrays, at, count, work);
      }
    }
  }

  void run_block(const Pass<T>& pass, const std::array<void*, 3>& arrays, const Extent& at, int count,
                 void* work) const {
    const LineFft<T>& fft = *pass.fft;
    const Extent &from_stride = stride_[pass.from], &to_stride = stride_[pass.to];
    const std::int64_t from = offset(at, from_stride), to = offset(at, to_stride);
    const LinePlaces source{from_stride[pass.axis], from_stride[pass.across], count};
    const LinePlaces target{to_stride[pass.axis], to_stride[pass.across], count};
    const auto interior = static_cast<T>(op_.interior);
    switch (pass.kind) {
      case PassKind::complex:
        fft.pass(work, static_cast<const Value*>(arrays[pass.from]) + from, source,
                 static_cast<Value*>(arrays[pass.to]) + to, target);
        break;
      case PassKind::real_to_half:
        fft.load_real(work, static_cast<const T*>(arrays[pass.from]) + from, source);
        fft.store_half(fft.transform(work, count), static_cast<Value*>(arrays[pass.to]) + to, target, interior,
                       conjugate_);
        break;
      case PassKind::half_to_real:
        fft.load_half(work, static_cast<const Value*>(arrays[pass.from]) + from, source, interior, conjugate_);
        fft.store_real(fft.transform(work, count), static_cast<T*>(arrays[pass.to]) + to, target);
        break;
    }
  }

  FftOperation op_;
  Extent size_;  // on the complex side
  std::array<Extent, 3> stride_;
  bool conjugate_ = false;
  std::array<std::unique_ptr<LineFft<T>>, most_dimensions> ffts_;
  std::vector<Step<T>> steps_;
  std::int64_t work_stride_ = 0;
  int workers_ = 1;
  AlignedBytes work_, middle_;
};

// Gives each transform of a batch to one of several workers, or all to the only one, whose threads share them.
template <class Run>
void run_batch(std::size_t workers, std::int64_t batch, const Run& one) {
  if (workers > 1)
    parallel_for(static_cast<int>(workers), batch, one);
  else
    for (std::int64_t b = 0; b < batch; ++b) one(b, 0);
}

template <class Fft>
std::int64_t all_bytes(const std::vector<std::unique_ptr<Fft>>& ffts) {
  std::int64_t sum = 0;
  for (const auto& fft : ffts) sum += fft->bytes();
  return sum;
}

// One long dimension whose length has a large prime factor.
template <class T>
class ChirpRows final : public FftRunner {
  using Value = std::complex<T>;

 public:
  explicit ChirpRows(const FftOperation& op) : op_(op) {
    const int workers = team_size(op.threads);
    const bool apart = are_long_lines_apart(LongChirp<T>::work_bytes(op.n[0]), op.batch, workers);
    for (int worker = 0; worker < (apart ? workers : 1); ++worker)
      ffts_.push_back(std::make_unique<LongChirp<T>>(op.n[0], op.sign, apart ? 1 : op.threads));
  }
  void run(const void* in, void* out) override {
    const auto one = [&](std::int64_t b, int worker) {
      ffts_[static_cast<std::size_t>(worker)]->transform(
          static_cast<const Value*>(in) + b * op_.in.distance, op_.in.stride[0],
          static_cast<Value*>(out) + b * op_.out.distance, op_.out.stride[0]);
    };
    run_batch(ffts_.size(), op_.batch, one);
  }
  std::int64_t bytes() const override { return all_bytes(ffts_); }
  std::string wisdom() const override { return {}; }

 private:
  FftOperation op_;
  std::vector<std::unique_ptr<LongChirp<T>>> ffts_;  // one that threads share, or one per thread
};

// One dimension, long or a single line.
template <class T>
class LongRows final : public FftRunner {
  using Value = std::complex<T>;

 public:
  explicit LongRows(const FftOperation& op) : op_(op) {
    const int workers = team_size(op.threads);
    const std::int64_t bytes = LongFft<T>::work_values(op.n[0]) * static_cast<std::int64_t>(sizeof(Value));
    const bool apart = are_long_lines_apart(bytes, op.batch, workers);
    work_stride_ = (bytes + 4095) / 4096 * 4096 + 256;
    work_ = AlignedBytes(apart ? work_stride_ * workers : bytes);
    for (int worker = 0; worker < (apart ? workers : 1); ++worker)
      ffts_.push_back(std::make_unique<LongFft<T>>(op.n[0], op.sign, apart ? 1 : op.threads));
  }
  void run(const void* in, void* out) override {
    const auto one = [&](std::int64_t b, int worker) {
      ffts_[static_cast<std::size_t>(worker)]->transform(
          static_cast<const Value*>(in) + b * op_.in.distance, op_.in.stride[0],
          reinterpret_cast<Value*>(work_.as<char>() + worker * work_stride_),
          static_cast<Value*>(out) + b * op_.out.distance, op_.out.stride[0]);
    };
    run_batch(ffts_.size(), op_.batch, one);
  }
  std::int64_t bytes() const override { return work_.bytes() + all_bytes(ffts_); }
  std::string wisdom() const override { return {}; }

 private:
  FftOperation op_;
  AlignedBytes work_;  // allocated before the tables, so that too large a problem is refused at once
  std::int64_t work_stride_ = 0;
  std::vector<std::unique_ptr<LongFft<T>>> ffts_;  // one that threads share, or one per thread
};

// Whether FFTW's estimate does better: it has straight-line code for each of the lengths, and lines so short that
// moving them to vectors and back costs more than transforming them.
template <class T>
bool are_lines_tiny(const FftOperation& op) {
  const std::int64_t n = op.n[0];
  // There the algorithm, and with it the last bit in f32, would depend on the order of the axes in memory, which
  // deterministic transforms promise it does not (fft.cpp).
  if (op.dim > 1 && sizeof(T) == 4) return false;
  if (op.dim == 1 && op.type == FftType::c2r) return false;
  if (op.dim == 1 && op.type == FftType::r2c) return n <= 8;
  const auto tiny = [&](std::int64_t length) {
    return length <= 16 || length == 20 || (op.dim == 1 && sizeof(T) == 8 && (length == 25 || length == 32));
  };
  return std::all_of(op.n.begin(), op.n.begin() + op.dim, tiny);
}

}  // namespace

template <class T>
std::unique_ptr<FftRunner> make_rows_fft(const FftOperation& op) {
  if (op.in_place && !rows_stay_in_place(op)) return make_staged_fft<T>(op, &make_rows_fft<T>);
  const std::int64_t n = op.n[0];
  const bool few = 4 * op.batch < simd_fft_kernels<T>().lanes;  // too few lines for the lanes of a vector
  const int lanes = simd_fft_kernels<T>().lanes;
  if (op.dim == 1 && op.type == FftType::c2c && generator::go_one_by_one(n, op.batch, lanes)) {
    if (LongFft<T>::supports(n)) return std::make_unique<LongRows<T>>(op);
    if (n >= kShortLine && !generator::has_factors_up_to(n, generator::kLargestSummed) && LongChirp<T>::supports(n))
      return std::make_unique<ChirpRows<T>>(op);
  }
  if (op.type != FftType::c2c && generator::go_one_by_one(n / 2, op.batch, lanes))
    if (auto line = make_long_real_fft<T>(op)) return line;
  if (op.type != FftType::c2c && generator::go_one_by_one(n, op.batch, lanes))
    if (auto line = make_odd_real_fft<T>(op)) return line;
  if (auto boxes = make_box_fft<T>(op)) return boxes;
  // Where FFTW is available, it is faster for one short line, for other long real lines in one dimension and for tiny
  // lines.
  // Its estimate is good for them.
  const bool real = op.type != FftType::c2c && (n % 2 != 0 ? n : n / 2) > kLongLine;
  const FftLibrary<T>* library = fft_library<T>();
  if (library && ((op.dim == 1 && (few || real)) || are_lines_tiny<T>(op))) {
    FftOperation line = op;
    line.choice.rigor = line_rigor(op.choice.rigor);
    return library->make_fft(line);
  }
  return std::make_unique<RowsFft<T>>(op);
}

template std::unique_ptr<FftRunner> make_rows_fft<float>(const FftOperation&);
template std::unique_ptr<FftRunner> make_rows_fft<double>(const FftOperation&);

}  // namespace fourtune::runtime::cpu
