#include "runtime/streamed_nufft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/gpu/program_backend.h"
#include "runtime/relay.h"
#include "runtime/slab_scheme.h"
#include "runtime/slabs/gpu_slab_ffts.h"
#include "runtime/slabs/gpu_slab_plan.h"
#include "runtime/streamed_core.h"
#include "runtime/streamed_points.h"

namespace fourtune::runtime {
namespace {

using Lane = DeviceStreams::Lane;

// Transforms of a batch that share what is done with their points: copies of coordinates, and sorting where a slab's
// points are one part. As many have their columns in host memory at a time.
constexpr std::int64_t kTogether = 4;

const gpu::ProgramBackend& programs_of(const Options& options) {
  const Backend& backend = find_backend(options.backend);
  const auto* const programs = dynamic_cast<const gpu::ProgramBackend*>(&backend);
  if (programs == nullptr)
    throw Error(Status::unsupported, fmt::format("devices: the {} backend makes no kernels", backend.name()));
  return *programs;
}

void check(const Problem& problem, const Options& options) {
  if (problem.dim < 2 || problem.type == 3)
    throw Error(
        Status::unsupported,
        fmt::format("devices: the transform does not fit into the memory that is allowed; of nonuniform ones only "
                    "types 1 and 2 in two or three dimensions can go through it in slabs, not {}",
                    problem.type == 3 ? "type 3" : "one dimension"));
  if (options.deterministic)
    throw Error(Status::unsupported,
                "devices: the transform does not fit into the memory that is allowed, and going through it in slabs is "
                "not deterministic; allow more memory, or leave deterministic out");
}

class StreamedNufft final : public StreamedCore {
 public:
  StreamedNufft(const Problem& problem, const Options& options, const Resolution& resolution, std::int64_t bytes)
      : StreamedCore(problem),
        options_(options),
        allowed_(bytes),
        backend_(programs_of(options)),
        traits_(backend_.traits(options.device)),
        streams_(backend_.streams(options.device)),
        memory_(backend_, options.device) {
    check(problem, options);
    const generator::Plan plan = fit_for_gpu_slabs(resolution.plan, problem, traits_, false);
    const bool forced = resolution.source == Source::forced;
    const std::string fault = gpu_slabs_fault(forced ? resolution.plan : plan, problem);
    if (!fault.empty()) throw Error(forced ? Status::invalid_plan : Status::unsupported, "devices: " + fault);
    plan_ = generator::to_text(plan, problem);
    why_ = resolution.explain;
    locator_.emplace(locator_of(problem, plan, options.trust_points, traits_));
    scheme_.problem = of_one_set(problem), scheme_.plan = plan, scheme_.order = options.mode_order;
    scheme_.exact_points = options.exact_points;
    scheme_.together = most_together();
    bind(fit_slabs(scheme_, traits_, bytes));
    prepare(false);
  }

  void set_points(const Points& points) override {
    streams_->wait(Lane::work);
    const std::int64_t real = real_bytes(problem_.precision);
    for (std::int64_t spare = 0;;) {
      hold();
      for (std::size_t i = 0; i < points_.size(); ++i) {
        Points own = points;
        for (const void** at : {&own.x, &own.y, &own.z})
          if (*at != nullptr) *at = static_cast<const char*>(*at) + static_cast<std::int64_t>(i) * points.m * real;
        set(i, own);
      }
      // Sizes of parts are known only now, and fewer points can need more than many, as they are sorted in another way.
      const std::int64_t needed = measure_slabs(scheme_, traits_, part_sizes());
      if (needed <= allowed_) break;
      SlabScheme next = scheme_;
      next.together = most_together();
      spare += needed - allowed_;
      bind(fit_slabs(next, traits_, allowed_ - spare));
    }
    describe();
  }
  void set_bounds(const Bounds&) override {}

  void execute(void* first, void* second, bool adjoint) override {
    const bool to_modes = (problem_.type == 1) != adjoint;
    times_.clear();
    try {
      prepare(adjoint);
      if (!scheme_.kept) between_.resize(scheme_.between_bytes(), *streams_);
      for (std::int64_t b = 0; b < problem_.batch; b += scheme_.together) {
        const std::int64_t count = std::min(scheme_.together, problem_.batch - b);
        const Group group{static_cast<char*>(first) + b * *problem_.m * scheme_.element(),
                          static_cast<char*>(second) + b * mode_bytes(),
                          count,
                          adjoint ? -problem_.sign : problem_.sign,
                          points_[options_.distinct_points ? static_cast<std::size_t>(b) : 0],
                          adjoint};
        to_modes ? forward(group) : backward(group);
      }
    } catch (...) {
      settle();
      throw;
    }
  }

  MemoryUse memory() const override {
    MemoryUse use;
    use.needed = scheme_.bytes;
    use.held = static_cast<std::int64_t>(shared_.bytes());
    if (gridder_) use.held += gridder_->memory().held;
    if (ffts_) use.held += ffts_->bytes();
    if (lists_) use.held += lists_->held();
    return use;
  }
  std::vector<StageTime> stage_times() const override { return times_; }

 private:
  // Transforms that are worked on together.
  struct Group {
    char *values, *modes;
    std::int64_t count;
    int sign;
    StreamedPoints& points;
    bool adjoint;
  };
  // Buffers that are in use at once: of parts of points, of planes or columns, and of values or columns that leave.
  struct Relays {
    Relay points, planes, leaving;
    Relays(DeviceStreams& streams, Lane planes_from, Lane planes_to)
        : points(streams, 0, Lane::copies, Lane::work),
          planes(streams, Relay::kMarks, planes_from, planes_to),
          leaving(streams, 2 * Relay::kMarks, Lane::work, Lane::exchange) {}
  };

  static Problem of_one_set(Problem problem) {
    problem.batch = 1;
    return problem;
  }
  std::int64_t mode_bytes() const { return scheme_.lines() * scheme_.last_modes() * scheme_.element(); }
  std::int64_t most_together() const { return options_.distinct_points ? 1 : std::min(kTogether, problem_.batch); }
  std::int64_t row_bytes() const { return scheme_.row_bytes(); }

  // ---- what the scheme needs ----
  void bind(const SlabScheme& scheme) {
    gridder_.reset(), ffts_.reset(), lists_.reset();
    shared_ = DeviceArray();
    scheme_ = scheme;
    warm_ = {false, false};
    points_.clear();
    points_.resize(options_.distinct_points ? static_cast<std::size_t>(problem_.batch) : 1);
    describe();
  }
  void hold() {
    if (gridder_) return;
    void* const stream = streams_->stream(Lane::work);
    const int device = options_.device;
    memory_.resize(shared_, SlabPlaces(scheme_).bytes);
    gridder_ = backend_.bind(slab_problem(scheme_), scheme_.plan, slab_options(scheme_, device, stream));
    ffts_ = std::make_unique<GpuSlabFfts>(backend_.queue(device), stream,
                                          grid_fft_of(problem_, scheme_.plan, scheme_.order));
    lists_ = std::make_unique<PointLists>(problem_, backend_.queue(device), stream, 2);
    lists_->reserve(scheme_.points, scheme_.listed(), scheme_.slab.cells, 2 * scheme_.slabs());
    streams_->wait(Lane::work);
  }
  void set(std::size_t i, const Points& points) try {
    points_[i].set(points, scheme_, means());
  } catch (const Error& error) {
    settle();
    if (points_.size() == 1) throw;
    throw Error(error.status(), fmt::format("transform {}: {}", i, error.what()));
  }
  std::vector<std::int64_t> part_sizes() const {
    std::vector<std::int64_t> sizes{scheme_.points};
    for (const StreamedPoints& points : points_)
      for (int s = 0; s < scheme_.slabs(); ++s)
        for (const bool copies : {false, true})
          for (const auto& part : points.parts(s, copies)) sizes.push_back(part.count);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }
  void prepare(bool adjoint) {
    hold();
    if (std::exchange(warm_[adjoint ? 1 : 0], true)) return;
    const int sign = adjoint ? -problem_.sign : problem_.sign;
    const bool to_modes = (problem_.type == 1) != adjoint;
    ffts_->prepare_planes(scheme_.planes, sign, to_modes);
    ffts_->prepare_lines(scheme_.columns, {scheme_.columns, scheme_.columns}, sign, to_modes);
  }
  StreamedPoints::Means means() const { return {*streams_, *lists_, *locator_, static_cast<char*>(shared_.data())}; }
  void describe() {
    std::int64_t host = scheme_.kept ? 0 : scheme_.between_bytes();
    for (const StreamedPoints& points : points_) host += points.host_bytes();
    explain_ =
        why_ +
        fmt::format(
            "by {}, through {} of {} bytes of device memory: {} slab{} of up to {} planes, {}{}, up to {} points and {} columns "
            "at a time; {} bytes of host memory\n",
            plan_, scheme_.bytes, allowed_, scheme_.slabs(), scheme_.slabs() == 1 ? "" : "s", most_planes(),
            scheme_.resident ? "all values" : "values by parts", scheme_.kept ? " and all columns" : "", scheme_.points,
            scheme_.columns, host);
  }
  std::int64_t most_planes() const {
    std::int64_t most = 0;
    for (int s = 0; s < scheme_.slabs(); ++s) most = std::max(most, scheme_.slab.of_ranks.size(s));
    return most;
  }

  // ---- the steps ----
  template <class Step>
  void timed(const char* name, const Step& step) {
    const auto start = std::chrono::steady_clock::now();
    step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto same = [&](const StageTime& time) { return time.stage == name; };
    const auto found = std::find_if(times_.begin(), times_.end(), same);
    found == times_.end() ? times_.push_back({name, seconds}) : void(found->seconds += seconds);
  }
  void forward(const Group& group) {
    if (!scheme_.resident)
      timed("values", [&] {
        for (std::int64_t b = 0; b < group.count; ++b) group.points.take(values(group, b), b, means());
      });
    timed("slabs", [&] {
      Relays relays(*streams_, Lane::work, Lane::exchange);
      if (scheme_.resident) copy_all_values(Lane::copies, group);
      for (int s = 0; s < scheme_.slabs(); ++s) spread(group, s, relays);
      streams_->wait(Lane::exchange);
    });
    timed("lines", [&] { lines(group, true); });
  }
  void backward(const Group& group) {
    timed("lines", [&] { lines(group, false); });
    timed("slabs", [&] {
      Relays relays(*streams_, Lane::copies, Lane::work);
      for (int s = 0; s < scheme_.slabs(); ++s) interpolate(group, s, relays);
      if (scheme_.resident) {
        streams_->follow(Lane::exchange, Lane::work);
        copy_all_values(Lane::exchange, group);
      }
      streams_->wait(Lane::exchange);
    });
    if (!scheme_.resident)
      timed("values", [&] {
        for (std::int64_t b = 0; b < group.count; ++b) group.points.give(values(group, b), b, means());
      });
  }
  // To the device on lane copies, back on lane exchange.
  void copy_all_values(Lane lane, const Group& group) {
    const std::int64_t bytes = group.count * *problem_.m * scheme_.element();
    const DeviceStreams::Rows there{at(SlabPlaces(scheme_).all_values), bytes}, own{group.values, bytes};
    const bool up = lane == Lane::copies;
    if (bytes > 0) streams_->copy(lane, up ? there : own, up ? own : there, bytes, 1);
  }
  char* values(const Group& group, std::int64_t b) const { return group.values + b * *problem_.m * scheme_.element(); }

  char* at(std::int64_t place) const { return static_cast<char*>(shared_.data()) + place; }
  char* plane(const SlabPlaces& places, std::int64_t own) const {
    return at(places.grid) + (scheme_.own_begin() + own) * scheme_.plane_cells() * scheme_.element();
  }
  // The columns of transform b at a cell, in the device's memory or the host's.
  char* row(std::int64_t b, std::int64_t cell) const {
    char* const first = scheme_.kept ? at(SlabPlaces(scheme_).columns) : between_.data();
    return first + (b * scheme_.slab.cells + cell) * row_bytes();
  }
  void clear_rows(char* first, std::int64_t rows) const {
    const auto bytes = static_cast<std::size_t>(rows * row_bytes());
    if (!scheme_.kept || memory_.is_host()) {
      std::memset(first, 0, bytes);
    } else {
      memory_.memory().fill(first, 0, bytes);
      memory_.wait();
    }
  }
  PointSet points_at(const std::array<std::int64_t, 3>& places, std::int64_t count) const {
    return {.m = count, .x = at(places[0]), .y = at(places[1]), .z = problem_.dim == 3 ? at(places[2]) : nullptr};
  }
  std::int64_t start(int s) const { return scheme_.whole() ? 0 : scheme_.slab.start(s); }

  void spread(const Group& group, int s, Relays& relays) {
    const std::vector<StreamedPoints::Portion> parts = group.points.parts(s, true);
    const std::int64_t begin = scheme_.slab.of_ranks.begin(s), size = scheme_.slab.of_ranks.size(s);
    if (parts.empty()) {
      for (std::int64_t b = 0; b < group.count; ++b) clear_rows(row(b, begin), size);
      return;
    }
    const SlabPlaces places(scheme_);
    int slot = 0;  // of the part that is sorted
    for (std::int64_t b = 0; b < group.count; ++b) {
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const bool fresh = b == 0 || parts.size() > 1, last = b + 1 == group.count || parts.size() > 1;
        if (fresh || !scheme_.resident) slot = relays.points.begin();
        if (fresh) group.points.copy_points(parts[p], slot, means());
        char* const own = at(places.values[static_cast<std::size_t>(slot)]);
        if (!scheme_.resident) group.points.copy_values(parts[p], b, own, true, means());
        if (fresh || !scheme_.resident) relays.points.hand_over();
        if (fresh) sort(s, p > 0, points_at(places.points[static_cast<std::size_t>(slot)], parts[p].count));
        if (scheme_.resident) group.points.pack_values(parts[p], slot, b, own, true, means());
        gridder_->execute(own, at(places.grid), group.adjoint);
        if (last || !scheme_.resident) relays.points.done();
      }
      for (std::int64_t next = 0; next < size; next += scheme_.planes) {
        const std::int64_t first = std::min(next, size - scheme_.planes);
        char* const kept = at(places.planes[static_cast<std::size_t>(relays.planes.begin())]);
        ffts_->planes(plane(places, first), kept, scheme_.planes, group.sign, true);
        relays.planes.hand_over();
        copy_rows(Lane::exchange, row(b, begin + first), kept, scheme_.planes);
        relays.planes.done();
      }
    }
  }

  void interpolate(const Group& group, int s, Relays& relays) {
    const std::vector<StreamedPoints::Portion> parts = group.points.parts(s, false);
    if (parts.empty()) return;
    const std::int64_t begin = scheme_.slab.of_ranks.begin(s);
    // Windows of its points reach planes of the next slab, too.
    const std::int64_t size = scheme_.slab.of_ranks.size(s) + (scheme_.whole() ? 0 : scheme_.slab.shared);
    const SlabPlaces places(scheme_);
    int slot = 0;  // of the part that is sorted
    for (std::int64_t b = 0; b < group.count; ++b) {
      for (std::int64_t next = 0; next < size; next += scheme_.planes) {
        const std::int64_t first = std::min(next, size - scheme_.planes);
        char* const kept = at(places.planes[static_cast<std::size_t>(relays.planes.begin())]);
        const std::int64_t cell = (begin + first) % scheme_.slab.cells;
        const std::int64_t straight = std::min(scheme_.planes, scheme_.slab.cells - cell);
        copy_rows(Lane::copies, kept, row(b, cell), straight);
        copy_rows(Lane::copies, kept + straight * row_bytes(), row(b, 0), scheme_.planes - straight);
        relays.planes.hand_over();
        ffts_->planes(plane(places, first), kept, scheme_.planes, group.sign, false);
        relays.planes.done();
      }
      for (const StreamedPoints::Portion& part : parts) {
        const bool fresh = b == 0 || parts.size() > 1, last = b + 1 == group.count || parts.size() > 1;
        if (fresh) {
          slot = relays.points.begin();
          group.points.copy_points(part, slot, means());
          relays.points.hand_over();
          sort(s, false, points_at(places.points[static_cast<std::size_t>(slot)], part.count));
        }
        char* const found = at(places.values[scheme_.resident ? 0 : static_cast<std::size_t>(relays.leaving.begin())]);
        gridder_->execute(found, at(places.grid), group.adjoint);
        if (scheme_.resident) {
          group.points.pack_values(part, slot, b, found, false, means());
        } else {
          relays.leaving.hand_over();
          group.points.copy_values(part, b, found, false, means());
          relays.leaving.done();
        }
        if (last) relays.points.done();
      }
    }
  }

  void sort(int s, bool adds, const PointSet& points) {
    gridder_->set_slab(start(s), adds);
    gridder_->set_points(points);
  }
  void copy_rows(Lane lane, char* to, const char* from, std::int64_t rows) {
    const std::int64_t bytes = rows * row_bytes();
    if (bytes > 0) streams_->copy(lane, {to, bytes}, {const_cast<char*>(from), bytes}, bytes, 1);
  }

  // All columns of a group, in blocks; the last one begins where it ends with the columns.
  void lines(const Group& group, bool to_modes) {
    const std::int64_t element = scheme_.element(), block = scheme_.columns, all = scheme_.lines();
    const SlabPlaces places(scheme_);
    Relays relays(*streams_, Lane::work, Lane::exchange);
    for (std::int64_t b = 0; b < group.count; ++b) {
      for (std::int64_t next = 0; next < all; next += block) {
        const std::int64_t first = std::min(next, all - block) * element;
        const DeviceStreams::Rows columns{row(b, 0) + first, all * element},
            modes{group.modes + b * mode_bytes() + first, all * element};
        const auto from = static_cast<std::size_t>(relays.points.begin());
        char* const fine_in = at(places.fine[from]);
        char* const modes_in = at(places.modes[from]);
        const DeviceStreams::Rows given{to_modes ? fine_in : modes_in, block * element};
        streams_->copy(Lane::copies, given, to_modes ? columns : modes, block * element,
                       to_modes ? scheme_.slab.cells : scheme_.last_modes());
        relays.points.hand_over();
        const auto to = static_cast<std::size_t>(relays.leaving.begin());
        char* const fine = to_modes ? fine_in : at(places.fine[to]);
        char* const spectrum = to_modes ? at(places.modes[to]) : modes_in;
        ffts_->lines(fine, spectrum, block, group.sign, to_modes);
        relays.points.done();
        relays.leaving.hand_over();
        const DeviceStreams::Rows found{to_modes ? spectrum : fine, block * element};
        streams_->copy(Lane::exchange, to_modes ? modes : columns, found, block * element,
                       to_modes ? scheme_.last_modes() : scheme_.slab.cells);
        relays.leaving.done();
      }
    }
    streams_->wait(Lane::exchange);
  }

  // After a failure: nothing may use the application's arrays any more.
  void settle() noexcept {
    for (const Lane lane : {Lane::copies, Lane::work, Lane::exchange}) try {
        streams_->wait(lane);
      } catch (...) {  // what failed first is what the caller gets
      }
  }

  Options options_;
  std::int64_t allowed_;
  const gpu::ProgramBackend& backend_;
  DeviceTraits traits_;
  std::unique_ptr<DeviceStreams> streams_;
  DeviceCopy memory_;
  std::string why_;
  SlabScheme scheme_;
  std::optional<generator::nufft::StageKernels> locator_;
  DeviceArray shared_;
  std::unique_ptr<Executor> gridder_;
  std::unique_ptr<GpuSlabFfts> ffts_;
  std::unique_ptr<PointLists> lists_;
  std::vector<StreamedPoints> points_;  // one, or a set for each transform
  PinnedMemory between_;
  std::array<bool, 2> warm_{false, false};  // forward, adjoint
  std::vector<StageTime> times_;
};

}  // namespace

std::unique_ptr<TransformCore> on_streamed_grid(const Problem& problem, const Options& options,
                                                const Resolution& resolution, std::int64_t bytes) {
  return std::make_unique<StreamedNufft>(problem, options, resolution, bytes);
}

}  // namespace fourtune::runtime
