// Points stay on their ranks, and every rank runs a whole transform, with any backend and any plan.
//
//   type 1  transform of this rank's points -> the ranks' modes are added up, each rank gets the sum of its part
//   type 2  every rank gets all modes -> transform at this rank's points
//   type 3  the shorter side is shared. Targets: every rank computes what its sources give at all targets, and these
//           are added up. Sources: every rank gets all of them and computes at its targets
// The adjoint moves data the other way.
#include <algorithm>
#include <array>

#include "fourtune/transform.h"
#include "runtime/backend_table.h"
#include "runtime/backends/cpu/base/buffer.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/device_copy.h"
#include "runtime/distributed/rank_executor.h"
#include "runtime/distributed/shared_array.h"

namespace fourtune::runtime::distributed {
namespace {

template <class T>
class Replicated final : public RankExecutor {
  using Complex = std::complex<T>;
  static constexpr auto kComplex = static_cast<std::int64_t>(sizeof(Complex));

 public:
  Replicated(const Communicator& ranks, const Problem& problem, const Options& options)
      : ranks_(ranks), problem_(problem), device_(find_backend(options.backend), options.device) {
    Problem own = problem;  // a rank's plan depends on its points
    own.m = own.k = std::nullopt;
    own.extent = std::nullopt;
    transform_ = std::make_unique<Transform>(to_token(own), options);
    if (problem.type == 3) return;
    columns_ = mode_columns(problem, ranks.size());
    run_ = problem.dim == 3 ? problem.n[0] : 1;
    share(problem.n[problem.dim - 1], columns_, run_);
  }

  void set_points(const PointSet& points) override {
    clock_.begin_set_points();
    if (problem_.type == 3) clock_.time("gather points", [&] { gather_points(points); });
    clock_.time("set_points", [&] {
      ranks_.together([&] {
        const PointSet all = problem_.type == 3 ? with_shared(points) : points;
        std::vector<DeviceArray> arrays;
        transform_->set_points(device_.points(all, problem_, arrays));
        device_.wait();
        own_count_ = shares_first_ ? points.k : points.m;
        device_.resize(own_, device_.is_host() ? 0 : own_count_ * problem_.batch * kComplex);
      });
    });
    for (auto& coordinate : shared_points_) coordinate.release();
    clock_.end_set_points();
  }

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    LocalWork local;
    auto* const shared = static_cast<Complex*>(shares_first_ ? first : second);
    void* own = shares_first_ ? second : first;
    const bool reads_first = (problem_.type != 2) != adjoint, reads_shared = reads_first == shares_first_;
    if (reads_shared)
      clock_.time("gather", [&] {
        for (std::int64_t b = 0; b < problem_.batch; ++b)
          array_.gather(ranks_, shared + b * array_.part(ranks_.rank()), whole_.data() + b * array_.whole());
      });
    local.run([&] {
      void* const all = device_.is_host() ? whole_.data() : all_.data();
      void* const mine = device_.is_host() ? own : own_.data();
      const std::int64_t all_bytes = whole_.size() * kComplex, own_bytes = own_count_ * problem_.batch * kComplex;
      clock_.time("upload", [&] {
        reads_shared ? device_.upload(all, whole_.data(), all_bytes) : device_.upload(mine, own, own_bytes);
      });
      clock_.time("transform", [&] {
        void *const one = shares_first_ ? all : mine, *const two = shares_first_ ? mine : all;
        adjoint ? transform_->execute_adjoint(one, two) : transform_->execute(one, two);
        device_.wait();
      });
      clock_.time("download", [&] {
        reads_shared ? device_.download(own, mine, own_bytes) : device_.download(whole_.data(), all, all_bytes);
      });
    });
    if (!reads_shared)
      clock_.time("reduce", [&] {
        for (std::int64_t b = 0; b < problem_.batch; ++b)
          array_.reduce(ranks_, whole_.data() + b * array_.whole(), shared + b * array_.part(ranks_.rank()));
      });
    ranks_.together([&] { local.rethrow(); });
  }

  MemoryUse memory() const override {
    MemoryUse use = transform_->memory();
    use.held += whole_.bytes() + array_.bytes();
    use.needed += whole_.bytes() + array_.bytes();
    return use;
  }
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  void share(std::int64_t rows, const Split& columns, std::int64_t run) {
    std::vector<std::int64_t> starts;
    for (int r = 0; r < columns.parts(); ++r) starts.push_back(columns.begin(r) * run);
    starts.push_back(columns.items() * run);
    array_.bind(ranks_, rows, Split(std::move(starts)));
    whole_.resize(checked_multiply(array_.whole(), problem_.batch, "shared arrays"));
    if (!device_.is_host()) device_.resize(all_, whole_.size() * kComplex);
  }

  // Gives every rank the coordinates of the side that is shared.
  void gather_points(const PointSet& points) {
    const std::int64_t m = ranks_.sum(points.m), k = ranks_.sum(points.k);
    shares_first_ = m < k;
    const std::array<const void*, 3> own = shares_first_ ? std::array<const void*, 3>{points.x, points.y, points.z}
                                                         : std::array<const void*, 3>{points.s, points.t, points.u};
    const std::vector<std::int64_t> counts = ranks_.of_all(shares_first_ ? points.m : points.k);
    std::vector<std::int64_t> starts{0};
    for (const std::int64_t count : counts) starts.push_back(starts.back() + count);
    const Split columns{std::move(starts)};
    ranks_.together([&] {
      share(1, columns, 1);
      for (int d = 0; d < problem_.dim; ++d) shared_points_[static_cast<std::size_t>(d)].resize(columns.items());
    });
    const DataType type = run_type(sizeof(T));
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem_.dim); ++d) {
      T* const all = shared_points_[d].data();
      const auto* const mine = static_cast<const T*>(own[d]);
      std::vector<Message> send, receive;
      for (int step = 1; step < ranks_.size(); ++step) {
        const int to = (ranks_.rank() + step) % ranks_.size();
        const int from = (ranks_.rank() + ranks_.size() - step) % ranks_.size();
        send.push_back({to, const_cast<T*>(mine), columns.size(ranks_.rank()), *type});
        receive.push_back({from, all + columns.begin(from), columns.size(from), *type});
      }
      ranks_.exchange(send, receive,
                      [&] { std::copy_n(mine, columns.size(ranks_.rank()), all + columns.begin(ranks_.rank())); });
    }
  }
  PointSet with_shared(const PointSet& points) const {
    PointSet all = points;
    const auto at = [&](std::size_t d) -> const void* {
      return static_cast<int>(d) < problem_.dim ? shared_points_[d].data() : nullptr;
    };
    if (shares_first_) {
      all.m = array_.whole();
      all.x = at(0), all.y = at(1), all.z = at(2);
    } else {
      all.k = array_.whole();
      all.s = at(0), all.t = at(1), all.u = at(2);
    }
    return all;
  }

  const Communicator& ranks_;
  Problem problem_;
  DeviceCopy device_;
  std::unique_ptr<Transform> transform_;
  Split columns_;
  std::int64_t run_ = 1, own_count_ = 0;
  bool shares_first_ = false;  // the sources of a type 3 are shared; else its targets, or modes
  SharedArray<T> array_;
  std::array<cpu::Buffer<T>, 3> shared_points_;
  cpu::Buffer<Complex> whole_;
  DeviceArray all_, own_;  // where the backend does not take host arrays
  cpu::StageClock clock_;
};

}  // namespace

std::unique_ptr<RankExecutor> make_replicated(const Communicator& ranks, const Problem& problem,
                                              const Options& options) {
  if (problem.precision == Precision::f32) return std::make_unique<Replicated<float>>(ranks, problem, options);
  return std::make_unique<Replicated<double>>(ranks, problem, options);
}

}  // namespace fourtune::runtime::distributed
