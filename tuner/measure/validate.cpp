#include "tuner/measure/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/layout.h"
#include "tuner/measure/device_arrays.h"
#include "tuner/reference/check.h"
#include "tuner/reference/device_sums.h"
#include "tuner/reference/recorded_points.h"
#include "tuner/reference/reference.h"
#include "tuner/reference/synthetic.h"
#include "tuner/reference/threads.h"

namespace fourtune::tuner {
namespace {

// Sums of squares of differences and of what is right.
struct Difference {
  double error = 0, norm = 0;
  void add(double found, double right) {
    error += (found - right) * (found - right);
    norm += right * right;
  }
};
// The relative l2 difference of `count` places, of which a thread takes `part` at a time; body(place, sum) adds one.
template <class F>
double difference_of(std::int64_t count, std::int64_t part, const F& body) {
  std::vector<Difference> sums(static_cast<std::size_t>((count + part - 1) / part));
  on_all_threads(std::ssize(sums), 1, [&](std::int64_t p) {
    Difference sum;
    for (std::int64_t i = p * part; i < std::min(count, (p + 1) * part); ++i) body(i, sum);
    sums[static_cast<std::size_t>(p)] = sum;
  });
  Difference all;
  for (const Difference& sum : sums) all.error += sum.error, all.norm += sum.norm;
  return all.error == 0 ? 0 : std::sqrt(all.error / all.norm);
}

// A buffer that begins at a cache line's boundary.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes = 0) : bytes_(bytes) {
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    if (bytes > 0 && !(data_ = std::aligned_alloc(64, rounded))) throw std::bad_alloc();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer() { std::free(data_); }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Makes room for the samples of one more transform and returns it.
ComplexSpan add(References& to, std::span<const double> weights) {
  to.value.resize(to.value.size() + weights.size());
  to.weight.insert(to.weight.end(), weights.begin(), weights.end());
  return ComplexSpan(to.value).last(weights.size());
}

// The number of outputs to sample per transform, between 16 and 256: as many as cost the host about a quarter of a
// second on one thread, or a device that much on a slow one.
std::int64_t affordable(double terms_an_output, double work = 1e8) {
  return static_cast<std::int64_t>(std::clamp(work / std::max(1.0, terms_an_output), 16.0, 256.0));
}
constexpr double device_work = 2e9;

// Numbers to compare: fewer take less time than waking threads, which compilers keep from running.
constexpr std::int64_t kPart = 1 << 16;  // values that a thread compares at a time

// The interface that hides the precision.
class Data {
 public:
  virtual ~Data() = default;
  virtual runtime::PointSet points() const = 0;
  virtual double mismatch(runtime::Executor& executor, const Buffer& result) = 0;
  // Fetches the output, or its sampled parts, and compares the samples with direct sums. Returns the relative l2 error.
  virtual double error(Look look) const = 0;
  // Relative l2 difference between the fetched part of the output and the one kept before.
  virtual double difference(Look look) const = 0;
  // Sums what samples of the output should be. sums: null, or of the device whose memory the arrays are in, with the
  // points there.
  virtual void make_references(DeviceSums* sums, const runtime::PointSet& points) = 0;

  std::shared_ptr<const References> references;  // null: not made yet
  TaskClock making;
  Buffer input_array, output_array;  // output_array is empty for in-place transforms
  Buffer saved_input;
  Buffer right_output;                   // devices only: a whole result that passed
  std::unique_ptr<DeviceArrays> device;  // null: executors use the host arrays
  void* input(int set = 0) const { return device ? device->input(set) : input_array.data(); }
  void* output(int set = 0) const { return device ? device->output(set) : host_output().data(); }
  // The array that error, difference and mismatch read.
  const Buffer& host_output() const { return output_array.data() ? output_array : input_array; }
  void fetch_output() const {
    if (device) device->fetch_output(host_output().data(), host_output().bytes());
  }
  void fetch_output(const Piece& piece) const {
    if (device) device->fetch_output(static_cast<char*>(host_output().data()) + piece.first, piece.bytes, piece.first);
  }
  void fetch_input() const {
    if (device) device->fetch_input(input_array.data(), input_array.bytes());
  }
  void poison_output() const {
    if (device) return device->poison_output();
    if (output_array.data()) std::memset(output_array.data(), 0xff, output_array.bytes());  // NaN in both precisions
  }
  void restore() const {
    if (device) return device->restore_inputs();
    std::memcpy(input_array.data(), saved_input.data(), saved_input.bytes());
  }
};

template <class T>
class TypedData : public Data {
 public:
  using Complex = std::complex<T>;

  TypedData(const Problem& problem, std::uint64_t seed, const std::filesystem::path& recorded)
      : problem_(problem), seed_(seed) {
    problem.kind == Kind::fft ? make_fft(seed) : make_nufft(seed, recorded);
    restore();
    making.lap(Task::points);
  }

  void make_references(DeviceSums* sums, const runtime::PointSet& points) override {
    auto made = std::make_shared<References>();
    problem_.kind == Kind::fft ? sum_fft(*made) : sum_nufft(*made, sums, points);
    references = std::move(made);
  }

  runtime::PointSet points() const override {
    runtime::PointSet set;
    if (problem_.kind == Kind::fft) return set;
    set.m = points_.count();
    set.x = points_.data(0);
    set.y = points_.data(1);
    set.z = points_.data(2);
    if (problem_.type == 3) {
      set.k = targets_.count();
      set.s = targets_.data(0);
      set.t = targets_.data(1);
      set.u = targets_.data(2);
    }
    return set;
  }

  double error(Look look) const override {
    const References& right = *references;
    const bool real = problem_.kind == Kind::fft && problem_.fft_type == FftType::c2r;
    const std::size_t element = real ? sizeof(T) : sizeof(Complex);
    if (look != Look::pieces) fetch_output();
    // Each fetch takes longer than it takes to compare a thousand numbers, so that of pieces a part of the samples has
    // to do: the result is compared with an earlier right one, too.
    constexpr std::size_t enough = 64;
    const std::size_t step = look == Look::pieces ? std::max<std::size_t>(1, right.at.size() / enough) : 1;
    std::vector<std::complex<double>> found, expected;
    std::vector<double> weight;
    const void* const values = host_output().data();
    for (std::size_t i = 0; i < right.at.size(); i += step) {
      const std::int64_t at = right.at[i];
      if (look == Look::pieces) fetch_output({static_cast<std::size_t>(at) * element, element});
      found.push_back(real ? std::complex<double>(static_cast<const T*>(values)[at])
                           : std::complex<double>(static_cast<const Complex*>(values)[at]));
      expected.push_back(right.value[i]);
      weight.push_back(right.weight[i]);
    }
    return relative_error(expected, found, weight).relative;
  }

  // result: a copy of the output, as an in-place adjoint overwrites it.
  double mismatch(runtime::Executor& executor, const Buffer& result) override {
    if (problem_.kind == Kind::fft && problem_.fft_type != FftType::c2c) return 0;
    if (problem_.kind == Kind::fft && problem_.input_layout) return 0;  // with gaps these are no inner products
    const auto x = saved_input.as<const Complex>();
    const auto y = result.as<const Complex>();
    execute(executor, true);
    fetch_input();
    const auto adjoint_y = input_array.as<const Complex>();
    return adjoint_mismatch<T>(y, y, x, adjoint_y);
  }

  double difference(Look look) const override {
    if (look != Look::pieces) return problem_.kind == Kind::fft ? whole_difference() : dense_difference();
    const std::span<const T> found = host_output().template as<const T>(), right = right_output.as<const T>();
    double error = 0, norm = 0;
    for (const Piece& piece : pieces_of(right_output.bytes())) {
      fetch_output(piece);
      for (std::size_t at = piece.first / sizeof(T); at < (piece.first + piece.bytes) / sizeof(T); ++at) {
        const double difference = static_cast<double>(found[at]) - static_cast<double>(right[at]);
        error += difference * difference;
        norm += static_cast<double>(right[at]) * static_cast<double>(right[at]);
      }
    }
    return error == 0 ? 0 : std::sqrt(error / norm);
  }

 private:
  // Of arrays without gaps.
  double dense_difference() const {
    const std::span<const T> found = host_output().template as<const T>(), right = right_output.as<const T>();
    return difference_of(std::ssize(right), kPart, [&](std::int64_t at, Difference& sum) {
      const auto i = static_cast<std::size_t>(at);
      sum.add(static_cast<double>(found[i]), static_cast<double>(right[i]));
    });
  }
  double whole_difference() const {
    const auto n = output_sizes(problem_);
    const ArrayLayout layout = resolved_output_layout(problem_);
    const int parts = problem_.fft_type == FftType::c2r ? 1 : 2;
    const T* const found = static_cast<const T*>(host_output().data());
    const T* const right = static_cast<const T*>(right_output.data());
    const std::int64_t one = element_count(n), rows = one / n[0] * problem_.batch;
    return difference_of(rows, std::max<std::int64_t>(1, kPart / (n[0] * parts)),
                         [&](std::int64_t row, Difference& sum) {
                           const std::int64_t first = row * n[0];
                           const std::int64_t start = place_of(layout, n, first % one) + first / one * layout.distance;
                           for (std::int64_t x = 0; x < n[0]; ++x)
                             for (int part = 0; part < parts; ++part) {
                               const std::int64_t at = (start + x * layout.stride[0]) * parts + part;
                               sum.add(static_cast<double>(found[at]), static_cast<double>(right[at]));
                             }
                         });
  }

  void execute(runtime::Executor& executor, bool adjoint) const {
    const bool reversed = problem_.kind == Kind::nufft && problem_.type == 2;
    executor.execute(reversed ? output() : input(), reversed ? input() : output(), adjoint);
  }

  void make_fft(std::uint64_t seed) {
    const bool real_in = problem_.fft_type == FftType::r2c, real_out = problem_.fft_type == FftType::c2r;
    const auto in = input_sizes(problem_), out = output_sizes(problem_);
    const ArrayLayout in_layout = resolved_input_layout(problem_), out_layout = resolved_output_layout(problem_);
    const auto in_elements = static_cast<std::size_t>(layout_span(in_layout, in, problem_.batch, "the input"));
    const auto out_elements = static_cast<std::size_t>(layout_span(out_layout, out, problem_.batch, "the output"));
    const std::size_t in_bytes = in_elements * (real_in ? sizeof(T) : sizeof(Complex));
    const std::size_t out_bytes = out_elements * (real_out ? sizeof(T) : sizeof(Complex));
    saved_input = Buffer(in_bytes);
    input_array = Buffer(problem_.place == Place::in ? std::max(in_bytes, out_bytes) : in_bytes);
    if (problem_.place == Place::out) output_array = Buffer(out_bytes);
    fill_fft_input(in, in_layout, seed);
  }
  void sum_fft(References& to) const {
    const auto in = input_sizes(problem_), out = output_sizes(problem_);
    const auto terms = static_cast<double>(element_count(in));
    const PointSample sample = sample_points(element_count(out), affordable(terms), seed_);
    const ArrayPlaces places(problem_, false);
    const std::int64_t distance = resolved_output_layout(problem_).distance;
    for (const std::int64_t b : checked_transforms(problem_.batch)) {
      fft_sums(problem_, saved_input.data(), b, sample.index, add(to, sample.weight));
      for (const std::int64_t i : sample.index) to.at.push_back(b * distance + places.of(i));
    }
  }
  void fill_fft_input(const Sizes& in, const ArrayLayout& layout, std::uint64_t seed) const {
    if (problem_.fft_type == FftType::r2c) return fill_random(saved_input.as<T>(), seed);
    if (problem_.fft_type == FftType::c2c) return fill_random(saved_input.as<Complex>(), seed);
    // c2r: a dense half spectrum with Hermitian symmetry, moved to the problem's layout.
    const std::int64_t one = element_count(in);
    std::vector<Complex> dense(static_cast<std::size_t>(one * problem_.batch));
    fill_half_spectrum(std::span<Complex>(dense), problem_.n, problem_.batch, seed);
    std::memset(saved_input.data(), 0, saved_input.bytes());
    const auto to = saved_input.as<Complex>();
    for (std::int64_t b = 0; b < problem_.batch; ++b)
      for (std::int64_t i = 0; i < one; ++i)
        to[static_cast<std::size_t>(b * layout.distance + place_of(layout, in, i))] =
            dense[static_cast<std::size_t>(b * one + i)];
  }

  void make_nufft(std::uint64_t seed, const std::filesystem::path& recorded) {
    const bool own = problem_.points == PointClass::recorded && !recorded.empty();
    points_ = own ? recorded_sources<T>(problem_, recorded) : make_points<T>(problem_, seed);
    if (problem_.type == 3) targets_ = own ? recorded_targets<T>(problem_, recorded) : make_targets<T>(problem_, seed);
    const std::int64_t modes = problem_.type == 3 ? *problem_.k : mode_count(problem_);
    const std::int64_t ins = problem_.type == 2 ? modes : *problem_.m, outs = problem_.type == 2 ? *problem_.m : modes;
    saved_input = Buffer(static_cast<std::size_t>(ins * problem_.batch) * sizeof(Complex));
    input_array = Buffer(saved_input.bytes());
    output_array = Buffer(static_cast<std::size_t>(outs * problem_.batch) * sizeof(Complex));
    fill_random(saved_input.as<Complex>(), seed);
  }
  void sum_nufft(References& to, DeviceSums* sums, const runtime::PointSet& there) const {
    const std::int64_t modes = problem_.type == 3 ? *problem_.k : mode_count(problem_);
    const std::int64_t ins = problem_.type == 2 ? modes : *problem_.m, outs = problem_.type == 2 ? *problem_.m : modes;
    NufftSums<T> job;
    job.type = problem_.type, job.sign = problem_.sign, job.n = problem_.n.xyz();
    job.points = view(points_), job.targets = view(targets_);
    const auto terms = static_cast<double>(ins);
    std::int64_t count = affordable(terms, device_work);
    if (!sums || !sums->takes(job.type, terms * static_cast<double>(count))) sums = nullptr, count = affordable(terms);
    const ModeSample modes_sampled = problem_.type == 1 ? sample_modes(job.n, count, seed_) : ModeSample{};
    const PointSample sampled = problem_.type == 1 ? PointSample{} : sample_points(outs, count, seed_);
    job.modes = modes_sampled.mode, job.which = sampled.index;
    for (const std::int64_t b : checked_transforms(problem_.batch)) {
      job.input = static_cast<const Complex*>(saved_input.data()) + b * ins;
      const DeviceInput at{{there.x, there.y, there.z},
                           sums ? static_cast<const Complex*>(input()) + b * ins : nullptr};
      direct_sums(job, sums, at, add(to, problem_.type == 1 ? modes_sampled.weight : sampled.weight));
      for (const auto& mode : modes_sampled.mode) to.at.push_back(b * outs + index_of(mode, job.n, ModeOrder::centred));
      for (const std::int64_t i : sampled.index) to.at.push_back(b * outs + i);
    }
  }

  const Problem problem_;
  const std::uint64_t seed_;
  PointSet<T> points_, targets_;
};

}  // namespace

Problem bound_problem(const Problem& problem) {
  Problem bound = problem;
  if (problem.kind == Kind::fft) return bound;
  if (problem.type == 3) {
    const std::int64_t count = problem.m.value_or(problem.k.value_or(65536));
    bound.m = problem.m.value_or(count);
    bound.k = problem.k.value_or(count);
  } else {
    bound.m = problem.m.value_or(mode_count(problem));
  }
  return bound;
}

struct ProblemData::Impl {
  Problem problem;
  std::unique_ptr<Data> data;
  bool reversed = false;  // the input is execute's second argument
  std::vector<void*> device_points;

  ~Impl() { release_points(); }
  void release_points() {
    for (void* array : device_points) data->device->memory().release(array);
    device_points.clear();
  }
  runtime::PointSet points() {
    runtime::PointSet set = data->points();
    if (!data->device || problem.kind == Kind::fft) return set;
    const std::pair<const void**, std::int64_t> arrays[] = {{&set.x, set.m}, {&set.y, set.m}, {&set.z, set.m},
                                                            {&set.s, set.k}, {&set.t, set.k}, {&set.u, set.k}};
    const bool fresh = device_points.empty();
    std::size_t next = 0;
    for (const auto& [array, count] : arrays) {
      if (!*array) continue;
      if (fresh) {
        const auto bytes = static_cast<std::size_t>(count * real_bytes(problem.precision));
        device_points.push_back(data->device->memory().allocate(std::max<std::size_t>(bytes, 16)));
        data->device->memory().upload(device_points.back(), *array, bytes);
      }
      *array = device_points[next++];
    }
    return set;
  }
};

ProblemData::ProblemData(const Problem& problem, std::uint64_t seed, const std::filesystem::path& recorded, bool later)
    : impl_(std::make_unique<Impl>()) {
  if (problem.kind == Kind::nufft && (!problem.m || (problem.type == 3 && !problem.k)))
    throw Error(Status::invalid_problem, "m: a problem to be measured needs its number of points (and k for type 3)");
  impl_->problem = problem;
  impl_->reversed = problem.kind == Kind::nufft && problem.type == 2;
  if (problem.precision == Precision::f32)
    impl_->data = std::make_unique<TypedData<float>>(problem, seed, recorded);
  else
    impl_->data = std::make_unique<TypedData<double>>(problem, seed, recorded);
  if (!later) make_references();
}
ProblemData::~ProblemData() = default;

const Problem& ProblemData::problem() const { return impl_->problem; }
const Spent& ProblemData::spent() const { return impl_->data->making.spent(); }
runtime::PointSet ProblemData::points() const { return impl_->points(); }
void* ProblemData::first() { return first(0); }
void* ProblemData::second() { return second(0); }
void* ProblemData::first(int set) { return impl_->reversed ? impl_->data->output(set) : impl_->data->input(set); }
void* ProblemData::second(int set) { return impl_->reversed ? impl_->data->input(set) : impl_->data->output(set); }
int ProblemData::sets() const { return impl_->data->device ? impl_->data->device->sets() : 1; }
std::size_t ProblemData::array_bytes() const {
  return impl_->data->input_array.bytes() + impl_->data->output_array.bytes();
}
void ProblemData::use(std::unique_ptr<runtime::ArrayMemory> memory, int sets) {
  Data& data = *impl_->data;
  impl_->release_points();
  data.device =
      std::make_unique<DeviceArrays>(std::move(memory), data.input_array.bytes(), data.output_array.bytes(), sets);
  data.device->set_input(data.saved_input.data(), data.saved_input.bytes());
}
void ProblemData::make_references(DeviceSums* sums) {
  Data& data = *impl_->data;
  if (data.references) return;
  data.making.lap(Task::points);
  data.make_references(data.device ? sums : nullptr, sums ? impl_->points() : runtime::PointSet{});
  data.making.lap(Task::reference);
}
std::shared_ptr<const References> ProblemData::references() const { return impl_->data->references; }
void ProblemData::take_references(std::shared_ptr<const References> made) { impl_->data->references = std::move(made); }
void ProblemData::restore_input() { impl_->data->restore(); }
void ProblemData::prepare() {
  impl_->data->restore();
  impl_->data->poison_output();
}
bool ProblemData::has_right_result() const { return impl_->data->right_output.data() != nullptr; }
double ProblemData::error() const { return impl_->data->error(Look::whole); }

Validation ProblemData::validate(runtime::Executor& executor, Look asked) {
  Data& data = *impl_->data;
  // Pieces are used only for arrays without gaps, and only after a look at a whole result.
  const bool nufft = impl_->problem.kind == Kind::nufft;
  const bool padded = impl_->problem.fft_type == FftType::c2r && impl_->problem.place == Place::in;
  const bool dense = nufft || (!impl_->problem.output_layout && !padded);
  const bool compares = data.right_output.data() && asked != Look::adjoint;
  const Look look = compares && dense ? asked : Look::whole;
  data.restore();
  data.poison_output();
  executor.execute(first(), second(), false);
  Validation result;
  result.error = data.error(look);
  const double allowed = allowed_error(impl_->problem);
  if (!(result.error <= allowed)) {
    result.message = fmt::format("relative error {:.3g} is above the allowed {:.3g}", result.error, allowed);
  } else if (compares) {
    const double difference = data.difference(look), most = nufft ? 2 * allowed : allowed;
    result.right = difference <= most;
    if (!result.right)
      result.message =
          fmt::format("the result is off an earlier right one by {:.3g}, allowed is {:.3g}", difference, most);
  } else {
    Buffer output(data.host_output().bytes());
    std::memcpy(output.data(), data.host_output().data(), output.bytes());
    result.adjoint_mismatch = data.mismatch(executor, output);
    result.right = result.adjoint_mismatch <= allowed;
    if (!result.right)
      result.message = fmt::format("the adjoint is off by {:.3g}, allowed is {:.3g}", result.adjoint_mismatch, allowed);
    else if (data.device && !data.right_output.data())
      data.right_output = std::move(output);
  }
  data.restore();
  return result;
}

}  // namespace fourtune::tuner
