// A transform whose batch several devices share: each has a part of the transforms and works from a thread of its own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "base/layout.h"
#include "generator/candidates.h"
#include "runtime/arguments.h"
#include "runtime/backend_table.h"
#include "runtime/batch_shares.h"
#include "runtime/device_list.h"
#include "runtime/device_part.h"
#include "runtime/transform_core.h"

namespace fourtune::runtime {
namespace {

// Bytes from one transform of a batch to the next, in the first or the second array.
std::int64_t transform_bytes(const Problem& problem, bool first) {
  const std::int64_t real = real_bytes(problem.precision);
  if (problem.kind == Kind::nufft)
    return 2 * real * (first ? *problem.m : problem.type == 3 ? *problem.k : mode_count(problem));
  const ArrayLayout layout = first ? resolved_input_layout(problem) : resolved_output_layout(problem);
  const bool is_real = problem.fft_type == (first ? FftType::r2c : FftType::c2r);
  const bool dense = first ? problem.input_layout.has_value() : problem.output_layout.has_value();  // see check_layouts
  const std::int64_t elements =
      dense ? element_count(first ? input_sizes(problem) : output_sizes(problem)) : layout.distance;
  return elements * (is_real ? 1 : 2) * real;
}

// Parts are copied as a whole, so nothing of the application's may lie between their elements.
void check_layouts(const Problem& problem) {
  const auto check = [&](const std::optional<ArrayLayout>& layout, const Sizes& sizes, const char* name) {
    if (!layout) return;
    const std::int64_t elements = element_count(sizes);
    if (layout_span(*layout, sizes, 1, name) == elements && (problem.batch == 1 || layout->distance == elements))
      return;
    throw Error(Status::unsupported,
                fmt::format("devices: the {} has a layout with gaps or with mixed transforms; devices "
                            "share batches of dense transforms, one after the other",
                            name));
  };
  check(problem.input_layout, input_sizes(problem), "input");
  check(problem.output_layout, output_sizes(problem), "output");
}

void check_options(const Options& options) {
  if (options.device != 0)
    throw Error(Status::invalid_option,
                fmt::format("device={} and devices={}: give one of them", options.device, options.devices));
  if (options.only != Only::whole)
    throw Error(Status::invalid_option,
                "devices: spreading or interpolating alone works on one grid; choose one device");
}

// With points of density 1 where their number is not known yet.
Problem with_points(Problem problem) {
  constexpr std::int64_t kOfType3 = 1'000'000;
  if (problem.kind == Kind::nufft && !problem.m) problem.m = problem.type == 3 ? kOfType3 : mode_count(problem);
  if (problem.type == 3 && !problem.k) problem.k = problem.m;
  return problem;
}

// Batches per second by the cost model.
double speed_of(const Problem& problem, const DeviceTraits& traits) {
  const double seconds = generator::estimate(generator::default_plan(problem, traits), problem, traits).execute;
  return seconds > 0 ? 1 / seconds : 1;
}

// Devices that get no transform are left out.
std::vector<DeviceShare> shares_of(const Problem& problem, const Options& options, const Backend& backend,
                                   const std::vector<int>& devices) {
  const Problem known = with_points(problem);
  const std::int64_t bytes = transform_bytes(known, true) + transform_bytes(known, false);
  std::vector<double> speeds;
  for (const int device : devices) speeds.push_back(speed_of(known, backend.traits(device)));
  const std::vector<std::int64_t> counts = batch_shares(problem.batch, speeds);
  std::vector<DeviceShare> shares;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (counts[i] == 0) continue;
    // Pieces use the same points one after the other, so distinct ones are set for a share as a whole.
    const std::int64_t pieces = options.distinct_points ? 1 : batch_pieces(counts[i], bytes);
    shares.push_back({devices[i], first, pieces, counts[i] / pieces, bytes});
    first += counts[i];
  }
  return shares;
}

// What a device's failure becomes: failures that the caller is to blame for would be the same on any device.
[[noreturn]] void rethrow_of(int device, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    const Status status = error.status();
    if (status == Status::invalid_point || status == Status::invalid_argument || status == Status::contradiction) throw;
    throw Error(status, fmt::format("device {}: {}", device, error.what()));
  } catch (const std::bad_alloc&) {
    throw Error(Status::out_of_memory, fmt::format("device {}: not enough memory for its part of the batch", device));
  }
}

class ManyDevices final : public TransformCore {
 public:
  ManyDevices(const Problem& problem, const Options& options, const Backend& backend, const std::vector<int>& devices)
      : problem_(problem), backend_(backend) {
    set_stream(options.stream);
    if (options.distinct_points && problem.kind != Kind::nufft)
      throw Error(Status::invalid_option, "distinct_points: an fft has no points");
    backend.connect(devices);
    for (const DeviceShare& share : shares_of(problem, options, backend, devices)) try {
        parts_.push_back(std::make_unique<DevicePart>(problem, options, share));
      } catch (...) {
        rethrow_of(share.device, std::current_exception());
      }
    describe();
  }

  void set_points(const Points& points) override {
    points_set_ = false;
    Problem now = problem_;
    now.m = points.m;
    if (now.type == 3) now.k = points.k;
    validate(now);
    wait_for_application();
    on_all([&](DevicePart& part) { part.set_points(points); });
    problem_ = now;
    points_set_ = true;
    describe();
  }
  void set_bounds(const Bounds& bounds) override {
    for (const auto& part : parts_) part->set_bounds(bounds);
  }
  void execute(void* first, void* second, bool adjoint) override {
    check_arrays(problem_, points_set_, first, second);
    wait_for_application();
    const BatchArray one{static_cast<char*>(first), transform_bytes(problem_, true)};
    const BatchArray two{static_cast<char*>(second), transform_bytes(problem_, false)};
    const bool reads_first = (problem_.kind == Kind::fft || problem_.type != 2) != adjoint;
    on_all([&](DevicePart& part) { part.execute(one, two, reads_first, adjoint); });
  }
  void set_stream(void* stream) override {
    if (stream != nullptr && !backend_.capabilities().streams)
      throw Error(Status::invalid_argument,
                  fmt::format("set_stream: the {} backend has no streams; pass null", backend_.name()));
    stream_ = stream;
  }

  const Problem& problem() const override { return problem_; }
  MemoryUse memory() const override {
    MemoryUse all;
    for (const auto& part : parts_) {
      const MemoryUse own = part->memory();
      all.held += own.held, all.needed += own.needed;
    }
    return all;
  }
  const std::string& plan() const override { return parts_.front()->core().plan(); }
  const std::string& explain() const override { return explain_; }
  const std::string& warnings() const override { return parts_.front()->core().warnings(); }
  std::vector<StageTime> stage_times() const override {
    std::vector<StageTime> times;
    for (const auto& part : parts_) times.push_back({fmt::format("device {}", part->share().device), part->seconds()});
    return times;
  }

 private:
  void wait_for_application() const {
    if (stream_ != nullptr) return parts_.front()->wait_for_application(stream_);
    for (const auto& part : parts_) part->wait_for_application(nullptr);
  }

  // Each part on a thread of its own, the first one on the caller's; also where no thread can be had.
  void on_all(const std::function<void(DevicePart&)>& work) {
    std::vector<std::exception_ptr> failures(parts_.size());
    const auto run = [&](std::size_t i) {
      try {
        work(*parts_[i]);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> threads;  // they end with this block
      threads.reserve(parts_.size());
      for (std::size_t i = 1; i < parts_.size(); ++i) try {
          threads.emplace_back(run, i);
        } catch (const std::system_error&) {
          run(i);
        }
      run(0);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (failures[i]) rethrow_of(parts_[i]->share().device, failures[i]);
  }

  void describe() {
    explain_ = fmt::format("problem: {}\ndevices: {} of {} share {} transforms\n", to_token(problem_), parts_.size(),
                           backend_.name(), problem_.batch);
    for (const auto& part : parts_) {
      const DeviceShare& share = part->share();
      explain_ += fmt::format("device {}: {} transforms from number {} on, in {} piece{}\n{}", share.device,
                              share.pieces * share.per_piece, share.first, share.pieces, share.pieces == 1 ? "" : "s",
                              part->core().explain());
    }
  }

  Problem problem_;
  const Backend& backend_;
  void* stream_ = nullptr;
  std::vector<std::unique_ptr<DevicePart>> parts_;
  bool points_set_ = false;
  std::string explain_;
};

std::vector<int> checked_devices(const Problem& problem, const Options& options) {
  std::vector<int> devices = device_list(options.devices, find_backend(options.backend));
  check_options(options);
  if (problem.kind == Kind::fft) check_layouts(problem);
  return devices;
}

// A processor reaches every array and has its own threads, so it works as if it were not asked to share.
bool is_processor(const Backend& backend, const std::vector<int>& devices) {
  return devices.size() == 1 && backend.capabilities().arrays == Arrays::host;
}

}  // namespace

std::unique_ptr<TransformCore> on_many_devices(const Problem& problem, const Options& options) {
  const Backend& backend = find_backend(options.backend);
  const std::vector<int> devices = checked_devices(problem, options);
  if (is_processor(backend, devices)) {
    Options one = DevicePart::options_of(options, devices.front());
    one.stream = options.stream;
    return on_one_device(problem, one);
  }
  return std::make_unique<ManyDevices>(problem, options, backend, devices);
}

void prepare_on_many_devices(const Problem& problem, const Options& options) {
  const Backend& backend = find_backend(options.backend);
  for (const DeviceShare& share : shares_of(problem, options, backend, checked_devices(problem, options)))
    prepare_on_one_device(DevicePart::piece_of(problem, share), DevicePart::options_of(options, share.device));
}

}  // namespace fourtune::runtime
