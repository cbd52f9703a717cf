// Two steps, each a parallel loop over groups of as many lines as a vector has lanes:
// - rows: along the first dimensions, x among them. Values of a row are neighbours in the array, so that a group is
//   transposed into lanes and back; lines are all other dimensions and the batch.
// - columns: along the other dimensions. Lines are neighbours in the array.
// c2c and r2c take the rows first, c2r the columns. Of many transforms, each thread takes both steps of some at a time,
// while they are in its cache.
//
// Between the steps, values lie in an array in the order in which blocks of columns take them: of each block its piece
// of every line, one after the other. c2r out of place always has that array, as its input is preserved. Others have it
// where the places of a column in the caller's array would compete for those of a cache, and go through the output
// else.
#include "runtime/backends/cpu/fft/boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

#include "generator/plan/fft_boxes.h"
#include "runtime/backends/cpu/base/aligned_bytes.h"
#include "runtime/backends/cpu/base/team.h"
#include "runtime/backends/cpu/fft/columns.h"
#include "runtime/backends/cpu/fft/simd.h"

namespace fourtune::runtime::cpu {
namespace {

constexpr std::int64_t kChunkBytes = std::int64_t{256} << 10;  // of transforms that a thread takes at a time
// Groups of columns at a time, so that runs of the array are longer; what they take stays in a second-level cache.
constexpr int kGroups = 4;
constexpr std::int64_t kGroupsBytes = std::int64_t{320} << 10;
// Most of what lies between the steps, for a thread alone and for threads that share it. On an Intel Xeon with 2 MB of
// second-level cache a core, more than that costs more than it saves: 252x256 in f64 takes 311 us instead of 261 on one
// thread, 165 instead of 188 on two.
constexpr std::int64_t kMiddleAlone = std::int64_t{512} << 10, kMiddleShared = std::int64_t{1} << 20;

// How the values of a box lie in an array, in elements of its type: rows of x follow each other at `row`, lines (of
// what the rows step does not transform) at `line`.
struct BoxPlaces {
  std::int64_t row = 0, line = 0;
};

// The one distance at which the places of axes first .. last - 1 follow each other, the batch being axis
// `most_dimensions`; 0 where there is one place only, nothing where there is no such distance.
std::optional<std::int64_t> distance(const FftOperation& op, const ArrayLayout& layout, const Sizes& sizes, int first,
                                     int last) {
  std::int64_t step = 0, next = 0;
  for (int d = first; d < last; ++d) {
    const bool batch = d == most_dimensions;
    const std::int64_t size = batch ? op.batch : sizes[static_cast<std::size_t>(d)];
    const std::int64_t stride = batch ? layout.distance : layout.stride[static_cast<std::size_t>(d)];
    if (size == 1) continue;
    if (step != 0 && stride != next) return std::nullopt;
    if (step == 0) step = stride;
    next = stride * size;
  }
  return step;
}

std::optional<BoxPlaces> places_of(const FftOperation& op, const ArrayLayout& layout, const Sizes& sizes, int split) {
  const auto row = distance(op, layout, sizes, 1, split),
             line = distance(op, layout, sizes, split, most_dimensions + 1);
  if (layout.stride[0] != 1 || !row || !line) return std::nullopt;
  return BoxPlaces{*row, *line};
}

// Columns follow each other, and so do their values at one distance.
bool are_columns_dense(const FftOperation& op, const ArrayLayout& layout, const Sizes& sizes, int split) {
  return distance(op, layout, sizes, 0, split) == 1 && distance(op, layout, sizes, split, op.dim).has_value();
}

template <class T>
class BoxFft final : public FftRunner {
  using Value = std::complex<T>;

 public:
  BoxFft(const FftOperation& op, const SimdFftKernels<T>& kernels, int split, BoxPlaces in, BoxPlaces out)
      : op_(op),
        kernels_(kernels),
        split_(split),
        in_(in),
        out_(out),
        sizes_(spectrum_sizes(op)),
        real_(op.type != FftType::c2c),
        odd_(real_ && op.n[0] % 2 != 0),
        // Of real types the spectrum's parts are exchanged for the other sign while rows are transformed along y and so
        // on.
        exchange_(op.sign > 0),
        element_(2 * kernels_.lanes) {
    for (int d = 0; d < op.dim; ++d) {
      const std::int64_t n = op.n[static_cast<std::size_t>(d)];
      plans_.push_back(shared_simd_fft_plan<T>(real_ && d == 0 && !odd_ ? n / 2 : n));
      if (d > 0) (d < split ? rows_ : column_) *= sizes_[static_cast<std::size_t>(d)];
    }
    width_ = sizes_[0];
    if (real_ && !odd_) make_roots();
    make_tables();
    make_columns();
    two_steps_ = split < op.dim;
    columns_ = width_ * rows_;
    workers_ = team_size(op.threads);
    const std::int64_t bytes = columns_ * column_ * static_cast<std::int64_t>(sizeof(Value));
    chunk_ = two_steps_ && (workers_ == 1 || generator::are_transforms_apart(op.batch, workers_))
                 ? transforms_of_a_chunk(bytes)
                 : op.batch;
    groups_ = groups_of_a_block();
    alone_ = workers_ > 1 && (op.batch + chunk_ - 1) / chunk_ >= workers_;
    const std::int64_t most = alone_ || workers_ == 1 ? kMiddleAlone : kMiddleShared;
    const bool preserves = op.type == FftType::c2r && !op.in_place;
    if (two_steps_ && (preserves || (bytes * chunk_ <= most && do_columns_compete()))) {
      middle_stride_ = (bytes * chunk_ + 4095) / 4096 * 4096 + 256;
      middle_ = AlignedBytes(middle_stride_ * (alone_ ? workers_ : 1));
    }
    const std::int64_t row_elements = 2 * rows_ * std::max(plans_[0]->n, width_) + 2;
    scratch_ = std::max(row_elements, two_steps_ ? groups_ * (column_ + 1) : 0) * element_;
    std::int64_t more = 0;
    for (const auto& plan : plans_) more = std::max(more, plan->scratch);
    work_stride_ = (scratch_ + more * element_) * static_cast<std::int64_t>(sizeof(T));
    work_stride_ = (work_stride_ + 4095) / 4096 * 4096 + 256;
    work_ = AlignedBytes(work_stride_ * workers_);
  }

  void run(const void* in, void* out) override {
    const std::int64_t chunks = (op_.batch + chunk_ - 1) / chunk_;
    const auto one = [&](std::int64_t chunk, int threads, int worker) {
      const std::int64_t first = chunk * chunk_;
      const Part part{first, std::min(chunk_, op_.batch - first), threads, worker,
                      middle_.bytes() > 0 ? middle_.as<char>() + worker * middle_stride_ : nullptr};
      const bool columns_first = op_.type == FftType::c2r;
      if (two_steps_ && columns_first) columns(in, out, part);
      rows(columns_first && two_steps_ && !part.middle ? out : in, out, part);
      if (two_steps_ && !columns_first) columns(out, out, part);
    };
    if (alone_)
      parallel_for(workers_, chunks, [&](std::int64_t chunk, int worker) { one(chunk, 1, worker); });
    else
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) one(chunk, workers_, 0);
  }
  std::int64_t bytes() const override {
    std::int64_t sum = work_.bytes() + middle_.bytes() + bytes_of(rows_table_) + bytes_of(roots_) +
                       (columns_fft_ ? columns_fft_->bytes() : 0);
    for (const auto& plan : plans_) sum += bytes_of(plan->twiddles) + bytes_of(plan->output);
    return sum;
  }
  std::string wisdom() const override { return {}; }

 private:
  // Whether what a block of columns loads from the caller's array drives itself out of a first-level cache of 64 sets
  // of 8 lines of 64 bytes, because rows lie at a power of two of each other.
  bool do_columns_compete() const {
    constexpr std::int64_t kLine = 64, kSets = 64, kWays = 8, kPeriod = kLine * kSets;
    const ArrayLayout& layout = op_.type == FftType::c2r ? op_.in : op_.out;
    const std::int64_t stride =
                           *distance(op_, layout, sizes_, split_, op_.dim) * static_cast<std::int64_t>(sizeof(Value)),
                       run = (std::min(together(), columns_) * static_cast<std::int64_t>(sizeof(Value)) + kLine - 1) /
                             kLine;
    const std::int64_t places = kPeriod / std::gcd(stride, kPeriod), sets = std::min(kSets, places * run);
    return sets < kSets && column_ * run > kWays * sets;
  }
  // As many as a cache holds and fill vectors, but fewer where a thread would have more of them than others.
  std::int64_t transforms_of_a_chunk(std::int64_t bytes) const {
    const std::int64_t least = (kernels_.lanes + column_ - 1) / column_,
                       most = std::min(std::max(kChunkBytes / bytes, least), (op_.batch + workers_ - 1) / workers_);
    std::int64_t best = most, shortest = 0;
    for (std::int64_t size = most; size >= std::max<std::int64_t>(1, most / 4); --size) {
      const std::int64_t chunks = (op_.batch + size - 1) / size,
                         vectors = (size * column_ + kernels_.lanes - 1) / kernels_.lanes,
                         longest = (chunks + workers_ - 1) / workers_ * vectors;  // of the thread with most of them
      if (size == most || longest < shortest) best = size, shortest = longest;
    }
    return best;
  }
  // As many as fit the cache; fewer where threads share a chunk and would have unequal parts of it, or none.
  int groups_of_a_block() const {
    const std::int64_t groups = (columns_ + kernels_.lanes - 1) / kernels_.lanes,
                       bytes = (column_ + 1) * element_ * static_cast<std::int64_t>(sizeof(T)),
                       most =
                           std::min<std::int64_t>({kGroups, groups, std::max<std::int64_t>(1, kGroupsBytes / bytes)});
    if ((op_.batch + chunk_ - 1) / chunk_ >= workers_) return static_cast<int>(most);
    std::int64_t best = most, least = 0;
    for (std::int64_t size = most; size > 0; --size) {
      const std::int64_t blocks = chunk_ * ((groups + size - 1) / size),
                         longest = (blocks + workers_ - 1) / workers_ * size;  // groups of the thread with most of them
      if (size == most || longest < least) best = size, least = longest;
    }
    return static_cast<int>(best);
  }

  // A chunk of transforms, the threads that share it or the worker that runs it alone, and what lies between its steps.
  struct Part {
    std::int64_t first, count;
    int threads, worker;
    void* middle;  // null: the output
  };
  template <class F>
  void for_each(const Part& part, std::int64_t count, F f) const {
    if (part.threads == 1)
      for (std::int64_t i = 0; i < count; ++i) f(i, work(part.worker));
    else
      parallel_for(part.threads, count, [&](std::int64_t i, int worker) { f(i, work(worker)); });
  }
  // Between the steps: the columns of a block, and where their values of the chunk's line `line` are, which those of
  // the next line follow.
  std::int64_t together() const { return groups_ * kernels_.lanes; }
  std::int64_t columns_of_block(std::int64_t block) const {
    return std::min(together(), columns_ - block * together());
  }
  T* middle_at(const Part& part, std::int64_t block, std::int64_t line) const {
    return static_cast<T*>(part.middle) +
           2 * (block * together() * part.count * column_ + line * columns_of_block(block));
  }
  T* work(int worker) const { return reinterpret_cast<T*>(work_.as<char>() + worker * work_stride_); }
  void make_roots() {
    const std::int64_t m = plans_[0]->n;
    for (std::int64_t k = 0; 2 * k <= m; ++k) {
      const double turn = -std::numbers::pi * static_cast<double>(k) / static_cast<double>(m);
      roots_.push_back(static_cast<T>(std::cos(turn)));
      roots_.push_back(static_cast<T>(std::sin(turn)));
    }
  }

  // Where axes first .. last - 1 of a box have their results, the first one varying fastest; elements are `width`
  // apart.
  std::vector<std::int32_t> results_of(int first, int last, std::int64_t width) const {
    std::vector<std::int32_t> table{0};
    for (int d = first; d < last; ++d) {
      const SimdFftPlan<T>& plan = *plans_[static_cast<std::size_t>(d)];
      std::vector<std::int32_t> next;
      for (std::int64_t k = 0; k < plan.n; ++k)
        for (const std::int32_t at : table)
          next.push_back(static_cast<std::int32_t>(at + width * plan.output[static_cast<std::size_t>(k)]));
      table = std::move(next);
      width *= plan.n;
    }
    return table;
  }

  void make_tables() {
    // What the rows step stores: complex values where they are, natural half spectra, pairs of neighbours, odd lines.
    const std::int64_t stored = op_.type == FftType::c2r ? (odd_ ? width_ : plans_[0]->n) : width_;
    const bool natural = op_.type == FftType::r2c || odd_;
    for (const std::int32_t row : results_of(1, split_, 1))
      for (std::int64_t k = 0; k < stored; ++k)
        rows_table_.push_back(
            static_cast<std::int32_t>(row * stored + (natural ? k : plans_[0]->output[static_cast<std::size_t>(k)])));
  }

  // ---- the rows step
  // The lines of one group: `first` is that of all transforms, `here` that of the chunk.
  struct Lines {
    std::int64_t first, here;
    int count;
  };
  void rows(const void* from, void* to, const Part& part) const {
    const std::int64_t lanes = kernels_.lanes, lines = part.count * column_;
    for_each(part, (lines + lanes - 1) / lanes, [&](std::int64_t group, T* work) {
      const Lines some{part.first * column_ + group * lanes, group * lanes,
                       static_cast<int>(std::min(lanes, lines - group * lanes))};
      T* const other = work + (rows_ * std::max(plans_[0]->n, width_) + 1) * element_;
      if (op_.type == FftType::c2c)
        complex_rows(static_cast<const Value*>(from), static_cast<Value*>(to), some, part, work);
      else if (op_.type == FftType::r2c)
        half_rows(static_cast<const T*>(from), static_cast<Value*>(to), some, part, {work, other});
      else
        real_rows(static_cast<const Value*>(from), static_cast<T*>(to), some, part, {work, other});
    });
  }

  struct Areas {
    T *work, *other;
  };
  void complex_rows(const Value* from, Value* to, const Lines& lines, const Part& part, T* work) const {
    load(work, reinterpret_cast<const T*>(from + lines.first * in_.line), {width_, 2 * in_.row, 2 * in_.line},
         lines.count, exchange_);
    kernels_.transform_axis(*plans_[0], work, {rows_, 1}, work + scratch_);
    transform_rows(work, false, work + scratch_);
    store_spectrum(work, to, lines, part);
  }
  void half_rows(const T* from, Value* to, const Lines& lines, const Part& part, const Areas& area) const {
    const std::int64_t n = plans_[0]->n, pairs = (op_.n[0] + 1) / 2;
    const auto interior = static_cast<T>(op_.interior);
    load(odd_ ? area.other : area.work, from + lines.first * in_.line, {pairs, in_.row, in_.line, odd_}, lines.count,
         false);
    for (std::int64_t row = 0; row < rows_ && odd_; ++row)
      kernels_.spread_pairs(area.other + row * pairs * element_, n, area.work + row * n * element_);
    kernels_.transform_axis(*plans_[0], area.work, {rows_, 1}, area.work + scratch_);
    for (std::int64_t row = 0; row < rows_; ++row) {
      const T* one = area.work + row * n * element_;
      T* half = area.other + row * width_ * element_;
      if (odd_)
        kernels_.halve(one, plans_[0]->output.data(), n, {interior, exchange_, exchange_}, half);
      else
        kernels_.split(one, plans_[0]->output.data(), n, roots_.data(), {interior, exchange_, exchange_}, half);
    }
    transform_rows(area.other, false, area.work + scratch_);
    store_spectrum(area.other, to, lines, part);
  }
  void real_rows(const Value* from, T* to, const Lines& lines, const Part& part, const Areas& area) const {
    const std::int64_t n = plans_[0]->n, pairs = (op_.n[0] + 1) / 2;
    const auto interior = static_cast<T>(op_.interior);
    load_spectrum(area.other, from, lines, part);
    transform_rows(area.other, true, area.work + scratch_);
    for (std::int64_t row = 0; row < rows_; ++row) {
      const T* half = area.other + row * width_ * element_;
      T* one = area.work + row * n * element_;
      if (odd_)
        kernels_.extend(half, n, {interior, !exchange_, exchange_}, one);
      else
        kernels_.merge(half, n, roots_.data(), {interior, !exchange_, exchange_}, one);
    }
    kernels_.transform_axis(*plans_[0], area.work, {rows_, 1}, area.work + scratch_);
    for (std::int64_t row = 0; row < rows_ && odd_; ++row)
      kernels_.join_pairs(area.work + row * n * element_, plans_[0]->output.data(), n,
                          area.other + row * pairs * element_);
    store(odd_ ? area.other : area.work, rows_table_.data(), to + lines.first * out_.line,
          {pairs, out_.row, out_.line, odd_}, lines.count, !odd_);
  }

  // The complex side of the columns step: in the caller's array, or between the steps.
  void store_spectrum(const T* work, Value* to, const Lines& lines, const Part& part) const {
    if (!part.middle)
      return store(work, rows_table_.data(), reinterpret_cast<T*>(to + lines.first * out_.line),
                   {width_, 2 * out_.row, 2 * out_.line}, lines.count, exchange_);
    for_each_piece(lines, [&](std::int64_t block, const SimdMove<T>& move) {
      kernels_.store(work, rows_table_.data(), middle_at(part, block, lines.here), move);
    });
  }
  void load_spectrum(T* work, const Value* from, const Lines& lines, const Part& part) const {
    if (!part.middle)
      return load(work, reinterpret_cast<const T*>(from + lines.first * in_.line), {width_, 2 * in_.row, 2 * in_.line},
                  lines.count, exchange_);
    for_each_piece(lines, [&](std::int64_t block, const SimdMove<T>& move) {
      kernels_.load(work, middle_at(part, block, lines.here), move);
    });
  }
  // Calls f(block, move of the lines' values in that block of columns).
  template <class F>
  void for_each_piece(const Lines& lines, F f) const {
    SimdMove<T> move;
    move.count = lines.count;
    move.swap = exchange_;
    for (std::int64_t block = 0; move.first < columns_; ++block, move.first += together()) {
      move.size = columns_of_block(block);
      move.line = 2 * move.size;
      f(block, move);
    }
  }

  // Along the rows step's dimensions but x.
  void transform_rows(T* work, bool last_first, T* scratch) const {
    std::int64_t width = width_;
    if (!last_first) {
      for (int d = 1; d < split_; width *= sizes_[static_cast<std::size_t>(d++)])
        kernels_.transform_axis(*plans_[static_cast<std::size_t>(d)], work,
                                {columns_ / width / sizes_[static_cast<std::size_t>(d)], width}, scratch);
      return;
    }
    width = columns_;
    for (int d = split_ - 1; d >= 1; --d) {
      width /= sizes_[static_cast<std::size_t>(d)];
      kernels_.transform_axis(*plans_[static_cast<std::size_t>(d)], work,
                              {columns_ / width / sizes_[static_cast<std::size_t>(d)], width}, scratch);
    }
  }

  // Rows of `size` pairs in an array, in numbers; half: the last pair of a row has one number.
  struct RowPlaces {
    std::int64_t size, row, line;
    bool half = false;
    bool joined() const { return !half && row == 2 * size; }
  };
  SimdMove<T> move_of(const RowPlaces& places, int count, bool swap) const {
    SimdMove<T> move;
    move.line = places.line;
    move.count = count;
    move.size = places.joined() ? rows_ * places.size : places.size;
    move.half = places.half;
    move.swap = swap;
    return move;
  }
  void load(T* work, const T* from, const RowPlaces& places, int count, bool swap) const {
    SimdMove<T> move = move_of(places, count, swap);
    for (std::int64_t row = 0; row * move.size < rows_ * places.size; ++row, move.first += places.size)
      kernels_.load(work, from + row * places.row, move);
  }
  void store(const T* work, const std::int32_t* table, T* to, const RowPlaces& places, int count, bool swap) const {
    SimdMove<T> move = move_of(places, count, swap);
    for (std::int64_t row = 0; row * move.size < rows_ * places.size; ++row, move.first += places.size)
      kernels_.store(work, table, to + row * places.row, move);
  }

  // ---- the columns step
  void columns(const void* from, void* to, const Part& part) const {
    const std::int64_t blocks = (columns_ + together() - 1) / together();
    const bool first_step = op_.type == FftType::c2r;
    const ArrayLayout& source = first_step ? op_.in : op_.out;
    const std::int64_t step = *distance(op_, source, sizes_, split_, op_.dim);
    for_each(part, part.count * blocks, [&](std::int64_t unit, T* work) {
      const std::int64_t transform = unit / blocks, block = unit % blocks, lines = columns_of_block(block);
      const std::int64_t at = 2 * ((part.first + transform) * source.distance + block * together());
      T* const middle = part.middle ? middle_at(part, block, transform * column_) : nullptr;
      const bool from_middle = middle && !first_step, to_middle = middle && first_step;
      const T* const in = from_middle ? middle : static_cast<const T*>(from) + at;
      T* const out = to_middle ? middle : static_cast<T*>(to) + at;
      columns_fft_->run({in, out, 2 * (from_middle ? lines : step), 2 * (to_middle ? lines : step)}, lines, work,
                        work + scratch_);
    });
  }
  // The axes of columns that have more than one value, in the order in which they are transformed.
  void make_columns() {
    std::vector<typename SimdColumns<T>::Axis> axes;
    std::int64_t width = 1;
    for (auto d = static_cast<std::size_t>(split_); d < plans_.size(); width *= sizes_[d++])
      if (sizes_[d] > 1) axes.push_back({plans_[d], {column_ / width / sizes_[d], width}});
    if (axes.empty()) return;
    if (op_.type == FftType::c2r) std::reverse(axes.begin(), axes.end());
    columns_fft_.emplace(kernels_, axes, exchange_);
  }

  FftOperation op_;
  const SimdFftKernels<T>& kernels_;
  int split_;
  BoxPlaces in_, out_;
  Sizes sizes_;  // of the complex side
  bool real_, odd_, exchange_;
  std::int64_t element_;
  std::vector<std::shared_ptr<const SimdFftPlan<T>>> plans_;  // of each dimension
  std::int64_t width_ = 1, rows_ = 1, column_ = 1;            // sizes along x, of the other rows, of a column
  std::int64_t columns_ = 1, chunk_ = 1;
  int groups_ = 1, workers_ = 1;
  bool two_steps_ = false, alone_ = false;      // alone_: workers take whole chunks
  std::vector<T> roots_;                        // real, even: exp(-pi i k / m), k <= m/2
  std::vector<std::int32_t> rows_table_;        // where results are
  std::optional<SimdColumns<T>> columns_fft_;   // of two steps
  std::int64_t scratch_ = 0, work_stride_ = 0;  // of a thread's work: where the plans' scratch begins, its size
  std::int64_t middle_stride_ = 0;              // from one worker's values between the steps to the next one's
  AlignedBytes work_, middle_;
};

template <class T>
generator::FftBoxes boxes_of(const FftOperation& op) {
  const bool real = op.type != FftType::c2c;
  for (int d = 0; d < op.dim; ++d) {
    const std::int64_t n = op.n[static_cast<std::size_t>(d)];
    if (!simd_fft_supports(real && d == 0 && n % 2 == 0 ? n / 2 : n)) return {};
  }
  if (op.dim == 1) return {};
  generator::FftBoxShape shape{op.dim, spectrum_sizes(op), op.batch, simd_fft_kernels<T>().lanes, 2 * sizeof(T)};
  shape.narrow = narrow_fft_kernels<T>().lanes > 0;
  shape.odd_real = real && op.n[0] % 2 != 0;
  shape.threads = team_size(op.threads);
  return generator::fft_boxes(shape);
}

}  // namespace

template <class T>
std::unique_ptr<FftRunner> make_box_fft(const FftOperation& op) {
  const bool real_in = op.type == FftType::r2c, real_out = op.type == FftType::c2r;
  const generator::FftBoxes boxes = boxes_of<T>(op);
  if (boxes.split == 0) return nullptr;
  const Sizes sizes = spectrum_sizes(op);
  const auto in = places_of(op, op.in, real_in ? op.n : sizes, boxes.split);
  const auto out = places_of(op, op.out, real_out ? op.n : sizes, boxes.split);
  if (!in || !out) return nullptr;
  if (boxes.split < op.dim && !are_columns_dense(op, real_out ? op.in : op.out, sizes, boxes.split)) return nullptr;
  const auto &wide = simd_fft_kernels<T>(), &kernels = boxes.lanes == wide.lanes ? wide : narrow_fft_kernels<T>();
  return std::make_unique<BoxFft<T>>(op, kernels, boxes.split, *in, *out);
}

template std::unique_ptr<FftRunner> make_box_fft<float>(const FftOperation&);
template std::unique_ptr<FftRunner> make_box_fft<double>(const FftOperation&);

}  // namespace fourtune::runtime::cpu
