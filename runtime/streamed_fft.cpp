#include "runtime/streamed_fft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "generator/planner/gpu_fft/program.h"
#include "runtime/backend_table.h"
#include "runtime/backends/device_copy.h"
#include "runtime/backends/device_streams.h"
#include "runtime/backends/gpu/program_backend.h"
#include "runtime/streamed_core.h"

namespace fourtune::runtime {
namespace {

using Lane = DeviceStreams::Lane;

// Planes, or lines side by side, of an array: unit u is `rows` runs of `bytes` bytes, the first one at u * bytes.
struct Units {
  std::int64_t bytes = 0, rows = 1, stride = 0;
  std::int64_t all() const { return bytes * rows; }
};

// A stage of the transform over all units of its arrays, in blocks of at most `block` units.
struct Pass {
  const char* name = "";
  std::int64_t units = 0, block = 0;
  Units first, second;                                     // of the arrays that its transforms take
  std::map<std::int64_t, std::unique_ptr<Executor>> ffts;  // by the number of units
  double seconds = 0;

  std::int64_t blocks() const { return (units + block - 1) / block; }
  std::int64_t count(std::int64_t b) const { return std::min(block, units - b * block); }
  std::int64_t work() const {
    std::int64_t bytes = 0;
    for (const auto& [count, fft] : ffts) bytes += fft->memory().needed;
    return bytes;
  }
};

std::optional<generator::GpuProgram> last_dimension(const Problem& problem, const generator::Plan&,
                                                    const DeviceTraits& traits) {
  return generator::gpu_fft_lines_program(problem, problem.dim - 1, traits);
}

void check(const Problem& problem) {
  const char* const what = problem.kind != Kind::fft || problem.dim < 2    ? "ffts of two dimensions or more"
                           : problem.input_layout || problem.output_layout ? "arrays without a layout"
                           : problem.order != SpectrumOrder::natural       ? "spectra in natural order"
                                                                           : nullptr;
  if (what != nullptr)
    throw Error(
        Status::unsupported,
        fmt::format("devices: the arrays do not fit into the memory that is allowed; only {} can go through it in "
                    "pieces",
                    what));
}

class StreamedFft final : public StreamedCore {
 public:
  StreamedFft(const Problem& problem, const Options& options, std::int64_t bytes)
      : StreamedCore(problem),
        options_(options),
        backend_(find_backend(options.backend)),
        streams_(backend_.streams(options.device)),
        memory_(backend_, options.device) {
    check(problem);
    const auto* const programs = dynamic_cast<const gpu::ProgramBackend*>(&backend_);
    if (programs == nullptr)
      throw Error(Status::unsupported, fmt::format("devices: the {} backend makes no kernels", backend_.name()));
    lines_backend_ = programs->with_programs(last_dimension);
    measure_units();
    fit(bytes);
    explain_ =
        fmt::format("problem: {}\nplan: {}\nthrough {} bytes of device memory: {} blocks of planes, {} of lines\n",
                    to_token(problem), plan(), bytes, planes_.blocks(), lines_.blocks());
  }

  void set_points(const Points&) override { throw Error(Status::invalid_argument, "set_points: an fft has no points"); }
  void set_bounds(const Bounds&) override { throw Error(Status::invalid_argument, "set_bounds: an fft has no points"); }
  void execute(void* first, void* second, bool adjoint) override {
    char* const from = static_cast<char*>(adjoint ? second : first);
    char* const to = static_cast<char*>(adjoint ? first : second);
    // Where the spectrum of the planes waits for the other pass: in the result, unless that is real and smaller.
    const bool real_result = problem_.fft_type == (adjoint ? FftType::r2c : FftType::c2r);
    char* const between = real_result && from != to ? scratch() : to;
    const bool planes_first = (problem_.fft_type != FftType::c2r) != adjoint;
    try {
      run(planes_first ? planes_ : lines_, from, between, adjoint);
      run(planes_first ? lines_ : planes_, between, to, adjoint);
    } catch (...) {
      settle();
      throw;
    }
  }

  MemoryUse memory() const override {
    MemoryUse use;
    const std::int64_t buffers = 2 * (first_bytes() + second_bytes());  // of two blocks under way
    use.needed = buffers + planes_.work() + lines_.work();
    for (const Pass* pass : {&planes_, &lines_})
      for (const auto& [count, fft] : pass->ffts) use.held += fft->memory().held;
    if (first_[0].data() != nullptr) use.held += buffers;
    return use;
  }
  std::vector<StageTime> stage_times() const override {
    return {{planes_.name, planes_.seconds}, {lines_.name, lines_.seconds}};
  }

 private:
  struct HostMemory {
    DeviceStreams* streams = nullptr;
    void* at = nullptr;
    ~HostMemory() {
      if (at != nullptr) streams->release_host(at);
    }
  };

  // Of a block's buffer, which both passes use.
  std::int64_t first_bytes() const {
    return std::max(planes_.block * planes_.first.all(), lines_.block * lines_.first.all());
  }
  std::int64_t second_bytes() const {
    return std::max(planes_.block * planes_.second.all(), lines_.block * lines_.second.all());
  }
  Sizes spectrum_sizes() const {
    return problem_.fft_type == FftType::c2r ? input_sizes(problem_) : output_sizes(problem_);
  }
  std::int64_t element_bytes(bool first) const {
    const bool real = problem_.fft_type == (first ? FftType::r2c : FftType::c2r);
    return (real ? 1 : 2) * real_bytes(problem_.precision);
  }
  std::size_t last() const { return static_cast<std::size_t>(problem_.dim) - 1; }

  void measure_units() {
    planes_.name = "planes", lines_.name = "lines";
    planes_.units = problem_.n[last()];
    planes_.first = {resolved_input_layout(problem_).stride[last()] * element_bytes(true), 1, 0};
    planes_.second = {resolved_output_layout(problem_).stride[last()] * element_bytes(false), 1, 0};
    lines_.units = element_count(spectrum_sizes()) / problem_.n[last()];
    const std::int64_t complex = 2 * real_bytes(problem_.precision);
    lines_.first = lines_.second = {complex, problem_.n[last()], lines_.units * complex};
  }

  Problem planes_problem(std::int64_t count) const {
    Problem planes = problem_;
    planes.dim = problem_.dim - 1;
    planes.n[last()] = 1;
    planes.batch = count;
    planes.place = Place::out;  // between two buffers
    ArrayLayout in = resolved_input_layout(problem_), out = resolved_output_layout(problem_);
    for (ArrayLayout* layout : {&in, &out}) layout->distance = std::exchange(layout->stride[last()], 0);
    planes.input_layout = in, planes.output_layout = out;
    return planes;
  }
  // Lines that follow each other in a block are a dimension that is only carried.
  Problem lines_problem(std::int64_t count) const {
    Problem lines;
    lines.kind = Kind::fft;
    lines.precision = problem_.precision;
    lines.sign = problem_.sign;
    lines.dim = 2;
    lines.n = Sizes(count, problem_.n[last()]);
    return lines;
  }

  void bind(Pass& pass, std::int64_t block) {
    pass.ffts.clear();
    pass.block = block;
    ExecutorOptions options;
    options.device = options_.device;
    for (const std::int64_t count : {pass.block, pass.count(pass.blocks() - 1)}) {
      if (pass.ffts.contains(count)) continue;
      const bool planes = &pass == &planes_;
      const Problem problem = planes ? planes_problem(count) : lines_problem(count);
      const Backend& backend = planes ? backend_ : *lines_backend_;
      pass.ffts[count] = backend.bind(problem, generator::parse_plan(plan_, problem), options);
    }
  }

  // The largest blocks with which buffers and what the transforms need fit.
  void fit(std::int64_t bytes) {
    plan_ = fmt::format("{};fft=plain", backend_.name());
    std::int64_t needed = 0;
    for (double part = 1; part > 0.05; part *= 0.8) {
      for (Pass* pass : {&planes_, &lines_}) {
        const std::int64_t both = 2 * (pass->first.all() + pass->second.all());
        const auto most = static_cast<std::int64_t>(part * static_cast<double>(bytes) / static_cast<double>(both));
        if (most < 1) return refuse(bytes, std::max(needed, both));
        const std::int64_t blocks = (pass->units + most - 1) / most;
        bind(*pass, (pass->units + blocks - 1) / blocks);
      }
      needed = memory().needed + planes_.work() + lines_.work();  // the adjoint has separate work areas
      if (needed <= bytes) return;
    }
    refuse(bytes, needed);
  }
  static void refuse(std::int64_t bytes, std::int64_t needed) {
    throw Error(Status::out_of_memory,
                fmt::format("devices: {} bytes are allowed, and even the smallest blocks of this fft need more: {}",
                            bytes, needed));
  }

  char* scratch() {
    if (scratch_.at == nullptr) {
      scratch_.at = streams_->allocate_host(lines_.units * lines_.first.all());
      scratch_.streams = streams_.get();
    }
    return static_cast<char*>(scratch_.at);
  }

  void copy(Lane lane, const Pass& pass, std::int64_t b, const Units& units, char* host, void* device, bool there) {
    const std::int64_t bytes = pass.count(b) * units.bytes;
    const DeviceStreams::Rows array{host + b * pass.block * units.bytes, units.stride}, buffer{device, bytes};
    streams_->copy(lane, there ? buffer : array, there ? array : buffer, bytes, units.rows);
  }

  // Each lane waits for the buffers that it takes from another one (device_part.cpp has the same way).
  void run(Pass& pass, char* from, char* to, bool adjoint) {
    enum Mark : int { uploaded = 0, computed = 2, downloaded = 4 };
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t slot = 0; slot < 2; ++slot) {
      memory_.resize(first_[slot], first_bytes());
      memory_.resize(second_[slot], second_bytes());
    }
    const auto upload = [&](std::int64_t b) {
      if (b >= pass.blocks()) return;
      const int slot = static_cast<int>(b % 2);
      if (b >= 2) streams_->follow_mark(Lane::copies, computed + slot);
      void* const buffer = (adjoint ? second_ : first_)[static_cast<std::size_t>(slot)].data();
      copy(Lane::copies, pass, b, adjoint ? pass.second : pass.first, from, buffer, true);
      streams_->mark(uploaded + slot, Lane::copies);
    };
    upload(0);
    for (std::int64_t b = 0; b < pass.blocks(); ++b) {
      const int slot = static_cast<int>(b % 2);
      void* const first = first_[static_cast<std::size_t>(slot)].data();
      void* const second = second_[static_cast<std::size_t>(slot)].data();
      streams_->follow_mark(Lane::work, uploaded + slot);
      if (b >= 2) streams_->follow_mark(Lane::work, downloaded + slot);
      Executor& fft = *pass.ffts.at(pass.count(b));
      fft.set_stream(streams_->stream(Lane::work));
      fft.execute(first, second, adjoint);
      streams_->mark(computed + slot, Lane::work);
      upload(b + 1);
      streams_->follow_mark(Lane::exchange, computed + slot);
      copy(Lane::exchange, pass, b, adjoint ? pass.first : pass.second, to, adjoint ? first : second, false);
      streams_->mark(downloaded + slot, Lane::exchange);
    }
    streams_->wait(Lane::exchange);
    pass.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  // After a failure: nothing may use the application's arrays any more.
  void settle() noexcept {
    for (const Lane lane : {Lane::copies, Lane::work, Lane::exchange}) try {
        streams_->wait(lane);
      } catch (...) {  // what failed first is what the caller gets
      }
  }

  Options options_;
  const Backend& backend_;
  std::unique_ptr<Backend> lines_backend_;  // whose kernels transform one dimension
  std::unique_ptr<DeviceStreams> streams_;
  DeviceCopy memory_;
  Pass planes_, lines_;
  std::array<DeviceArray, 2> first_, second_;  // blocks of the arrays on either side
  HostMemory scratch_;
};

}  // namespace

std::unique_ptr<TransformCore> on_streamed_device(const Problem& problem, const Options& options, std::int64_t bytes) {
  return std::make_unique<StreamedFft>(problem, options, bytes);
}

}  // namespace fourtune::runtime
