// A transform whose batch several devices share: each has a part of the transforms and works from a separate thread.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "generator/candidates.h"
#include "runtime/arguments.h"
#include "runtime/backend_table.h"
#include "runtime/batch_shares.h"
#include "runtime/device_link.h"
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

// Seconds of the batch by the cost model.
double seconds_of(const Problem& problem, const DeviceTraits& traits) {
  const double seconds = generator::estimate(generator::default_plan(problem, traits), problem, traits).execute;
  return seconds > 0 ? seconds : 1;
}

// Makes a share of so many transforms fit into the memory that is allowed: by pieces of fewer transforms, or else by
// sending single ones through it in blocks; nonuniform ones see to that themselves. Two pieces are under way, and a
// transform's work area is as large as both arrays at most.
void limit(const Problem& problem, std::int64_t most_bytes, std::int64_t count, DeviceShare& share) {
  const auto need = [&](std::int64_t transforms) { return (transforms < count ? 3 : 2) * transforms * share.bytes; };
  if (problem.kind == Kind::nufft && problem.type != 3) {  // its executors' memory is what counts
    share.pieces = 1, share.per_piece = count, share.stream_bytes = most_bytes;
    return;
  }
  if (need(share.per_piece) <= most_bytes) return;
  if (problem.kind != Kind::fft)
    throw Error(Status::unsupported,
                fmt::format("devices: memory is limited to {} bytes, which transforms of type 3 do not obey; leave the "
                            "limit out",
                            most_bytes));
  std::int64_t transforms = share.per_piece;
  while (transforms > 1 && (count % transforms != 0 || need(transforms) > most_bytes)) --transforms;
  share.per_piece = transforms, share.pieces = count / transforms;
  if (need(transforms) > most_bytes) share.stream_bytes = most_bytes;
}

// Consecutive transforms for each device; those that get none are left out.
std::vector<DeviceShare> deal(const Problem& problem, const Options& options, const std::vector<ListedDevice>& devices,
                              const std::vector<std::int64_t>& counts) {
  const Problem known = with_points(problem);
  const std::int64_t bytes = transform_bytes(known, true) + transform_bytes(known, false);
  std::vector<DeviceShare> shares;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (counts[i] == 0) continue;
    // Pieces use the same points one after the other, so distinct ones are set for a share as a whole.
    const std::int64_t pieces = options.distinct_points ? 1 : batch_pieces(counts[i], bytes);
    shares.push_back({devices[i].number, first, pieces, counts[i] / pieces, bytes});
    if (devices[i].most_bytes > 0) limit(problem, devices[i].most_bytes, counts[i], shares.back());
    first += counts[i];
  }
  return shares;
}

std::vector<DeviceShare> shares_of(const Problem& problem, const Options& options, const Backend& backend,
                                   const std::vector<ListedDevice>& devices) {
  std::vector<double> speeds;
  for (const auto& device : devices)
    speeds.push_back(1 / seconds_of(with_points(problem), backend.traits(device.number)));
  return deal(problem, options, devices, batch_shares(problem.batch, speeds));
}

// Of an fft whose arrays are all in the memory of devices[home].
std::vector<DeviceShare> home_shares_of(const Problem& problem, const Options& options, const Backend& backend,
                                        const std::vector<ListedDevice>& devices, std::size_t home) {
  const auto bytes =
      static_cast<double>(problem.batch * std::max(transform_bytes(problem, true), transform_bytes(problem, false)));
  std::vector<DeviceCost> costs;
  const int there = devices[home].number;
  for (const auto& [device, most_bytes] : devices) {
    const double link = device == there ? HUGE_VAL : device_link(backend, device, there);
    costs.push_back({seconds_of(problem, backend.traits(device)), bytes / link});
  }
  std::vector<DeviceShare> shares = deal(problem, options, devices, shares_from_home(problem.batch, home, costs));
  for (DeviceShare& share : shares)  // nothing is copied there
    if (share.device == there) share.per_piece *= std::exchange(share.pieces, 1);
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
  ManyDevices(const Problem& problem, const Options& options, const Backend& backend,
              const std::vector<ListedDevice>& devices)
      : problem_(problem), later_(without_databases(options)), backend_(backend), devices_(devices) {
    set_stream(options.stream);
    if (options.distinct_points && problem.kind != Kind::nufft)
      throw Error(Status::invalid_option, "distinct_points: an fft has no points");
    std::vector<int> numbers;
    for (const ListedDevice& device : devices) numbers.push_back(device.number);
    backend.connect(numbers);
    for (const DeviceShare& share : shares_of(problem, options, backend, devices)) try {
        parts_.push_back(std::make_unique<DevicePart>(problem, options, share));
      } catch (...) {
        rethrow_of(share.device, std::current_exception());
      }
    for (const int device : numbers) places_.push_back(backend.streams(device));
    describe();
  }

  void set_points(const Points& points) override {
    points_set_ = false;
    Problem now = problem_;
    now.m = points.m;
    if (now.type == 3) now.k = points.k;
    validate(now);
    wait_for_application();
    on_all(parts_, [&](DevicePart& part) { part.set_points(points); });
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
    Parts& parts = parts_for(first, second);
    const auto in_place = [&](const auto& part) { return part->works_in_place(one, two); };
    if (std::all_of(parts.begin(), parts.end(), in_place))
      queue_all(parts, [&](DevicePart& part, std::int64_t i) { part.queue_piece(i, one, two, reads_first, adjoint); });
    else
      on_all(parts, [&](DevicePart& part) { part.execute(one, two, reads_first, adjoint); });
    worked_ = &parts;
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
    const auto add = [&](const Parts& parts) {
      for (const auto& part : parts) {
        const MemoryUse own = part->memory();
        all.held += own.held, all.needed += own.needed;
      }
    };
    add(parts_);
    for (const auto& [home, parts] : from_home_) add(parts);
    return all;
  }
  const std::string& plan() const override { return parts_.front()->core().plan(); }
  const std::string& explain() const override { return explain_; }
  const std::string& warnings() const override { return parts_.front()->core().warnings(); }
  std::vector<StageTime> stage_times() const override {
    std::vector<StageTime> times;
    for (const auto& part : *worked_)
      times.push_back({fmt::format("device {}", part->share().device), part->seconds()});
    return times;
  }

 private:
  using Parts = std::vector<std::unique_ptr<DevicePart>>;

  // Parts that are made later have the plans of those of the beginning, whatever became of databases and packs.
  static Options without_databases(Options options) {
    options.databases.clear(), options.packs.clear(), options.misses.clear();
    options.default_databases = false;
    return options;
  }
  Options later_options(int device) const {
    Options own = later_;
    own.plan = parts_.front()->core().plan();
    for (const auto& part : parts_)
      if (part->share().device == device) own.plan = part->core().plan();
    return own;
  }
  // Empty where a part has no room, or its plan does not fit its transforms: the others do it then.
  Parts make_parts_from(int home) const {
    Parts parts;
    try {
      const auto place = static_cast<std::size_t>(home);
      for (const DeviceShare& share : home_shares_of(problem_, later_, backend_, devices_, place))
        parts.push_back(std::make_unique<DevicePart>(problem_, later_options(share.device), share));
    } catch (const Error&) {
      parts.clear();
    }
    return parts;
  }

  // The device whose memory alone has both arrays, by its place in the list; -1: there is none.
  int home_of(const void* first, const void* second) const {
    int home = -1;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i]->reaches(first) || !places_[i]->reaches(second)) continue;
      if (home >= 0) return -1;  // managed memory
      home = static_cast<int>(i);
    }
    return home;
  }

  // Ffts are so fast that copies of their arrays may take longer than they do, so these are distributed anew for arrays
  // that one device has. Nonuniform transforms gain wherever arrays are, and have their points with their parts.
  Parts& parts_for(const void* first, const void* second) {
    const bool limited = std::any_of(devices_.begin(), devices_.end(), [](const auto& d) { return d.most_bytes > 0; });
    if (problem_.kind != Kind::fft || devices_.size() < 2 || limited) return parts_;
    const int home = home_of(first, second);
    if (home < 0) return parts_;
    auto known = from_home_.find(home);
    if (known == from_home_.end()) {
      known = from_home_.emplace(home, make_parts_from(home)).first;
      describe();
    }
    return known->second.empty() ? parts_ : known->second;
  }

  void wait_for_application() const {
    if (stream_ != nullptr) return parts_.front()->wait_for_application(stream_);
    for (const auto& part : parts_) part->wait_for_application(nullptr);
  }

  // What failed first on each part.
  class Failures {
   public:
    explicit Failures(const Parts& parts) : parts_(parts), failures_(parts.size()) {}
    void attempt(std::size_t i, const std::function<void(DevicePart&)>& work) {
      try {
        work(*parts_[i]);
      } catch (...) {
        if (!failures_[i]) failures_[i] = std::current_exception();
      }
    }
    bool failed(std::size_t i) const { return failures_[i] != nullptr; }
    void rethrow() const {
      for (std::size_t i = 0; i < parts_.size(); ++i)
        if (failed(i)) rethrow_of(parts_[i]->share().device, failures_[i]);
    }

   private:
    const Parts& parts_;
    std::vector<std::exception_ptr> failures_;
  };

  // Each part on a separate thread, the first one on the caller's; also where no thread can be had.
  static void on_all(const Parts& parts, const std::function<void(DevicePart&)>& work) {
    Failures failures(parts);
    {
      std::vector<std::jthread> threads;  // they end with this block
      threads.reserve(parts.size());
      for (std::size_t i = 1; i < parts.size(); ++i) try {
          threads.emplace_back([&, i] { failures.attempt(i, work); });
        } catch (const std::system_error&) {
          failures.attempt(i, work);
        }
      failures.attempt(0, work);
    }
    failures.rethrow();
  }
  // Parts that copy nothing only queue work, which the caller's thread does piece by piece for all of them in turn: a
  // thread would take longer to begin and to end.
  static void queue_all(const Parts& parts, const std::function<void(DevicePart&, std::int64_t)>& queue) {
    Failures failures(parts);
    std::int64_t most = 0;
    for (const auto& part : parts) most = std::max(most, part->share().pieces);
    for (std::int64_t piece = 0; piece < most; ++piece)
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (piece < parts[i]->share().pieces && !failures.failed(i))
          failures.attempt(i, [&](DevicePart& part) { queue(part, piece); });
    for (std::size_t i = 0; i < parts.size(); ++i) failures.attempt(i, [](DevicePart& part) { part.finish(); });
    failures.rethrow();
  }

  void describe() {
    explain_ = fmt::format("problem: {}\ndevices: {} of {} share {} transforms\n", to_token(problem_), parts_.size(),
                           backend_.name(), problem_.batch);
    const auto describe_parts = [&](const Parts& parts) {
      for (const auto& part : parts) {
        const DeviceShare& share = part->share();
        explain_ += fmt::format("device {}: {} transforms from number {} on, in {} piece{}\n{}", share.device,
                                share.pieces * share.per_piece, share.first, share.pieces, share.pieces == 1 ? "" : "s",
                                part->core().explain());
      }
    };
    describe_parts(parts_);
    for (const auto& [home, parts] : from_home_) {
      explain_ += fmt::format("with arrays in the memory of device {}{}:\n",
                              devices_[static_cast<std::size_t>(home)].number, parts.empty() ? " the same" : "");
      describe_parts(parts);
    }
  }

  Problem problem_;
  Options later_;
  const Backend& backend_;
  std::vector<ListedDevice> devices_;
  std::vector<std::unique_ptr<DeviceStreams>> places_;  // of each device
  void* stream_ = nullptr;
  Parts parts_;
  std::map<int, Parts> from_home_;  // for ffts of arrays that one device has, once there were such
  const Parts* worked_ = &parts_;   // in the last execute
  bool points_set_ = false;
  std::string explain_;
};

std::vector<ListedDevice> checked_devices(const Problem& problem, const Options& options) {
  std::vector<ListedDevice> devices = device_list(options.devices, find_backend(options.backend));
  check_options(options);
  if (problem.kind == Kind::fft) check_layouts(problem);
  return devices;
}

// A processor reaches every array and has its own threads, so it works as if it were not asked to share.
bool is_processor(const Backend& backend, const std::vector<ListedDevice>& devices) {
  return devices.size() == 1 && backend.capabilities().arrays == MemoryKind::host;
}

}  // namespace

std::unique_ptr<TransformCore> on_many_devices(const Problem& problem, const Options& options) {
  const Backend& backend = find_backend(options.backend);
  const std::vector<ListedDevice> devices = checked_devices(problem, options);
  if (is_processor(backend, devices)) {
    Options one = DevicePart::options_of(options, devices.front().number);
    one.stream = options.stream;
    return on_one_device(problem, one);
  }
  return std::make_unique<ManyDevices>(problem, options, backend, devices);
}

void prepare_on_many_devices(const Problem& problem, const Options& options) {
  const Backend& backend = find_backend(options.backend);
  for (const DeviceShare& share : shares_of(problem, options, backend, checked_devices(problem, options))) {
    const Problem piece = DevicePart::piece_of(problem, share);
    const Options own = DevicePart::options_of(options, share.device);
    if (share.stream_bytes > 0)
      DevicePart(problem, options, share);
    else
      prepare_on_one_device(piece, own);
  }
}

}  // namespace fourtune::runtime
