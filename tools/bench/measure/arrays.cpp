#include "tools/bench/measure/arrays.h"

#include <vector>

#include "tools/common/device_arrays.h"
#include "tuner/measure/validate.h"

namespace fourtune::tools {
namespace {

class HostBenchArrays final : public BenchArrays {
 public:
  HostBenchArrays(const Problem& problem, std::uint64_t seed, const runtime::Backend& backend)
      : data_(problem, seed),
        timer_(backend.timer(0)),
        first_(data_.first()),
        second_(data_.second()),
        reversed_(problem.kind == Kind::nufft && problem.type == 2) {}
  bool on_device() const override { return false; }
  Points points() const override { return data_.points(); }
  int sets() const override { return 1; }
  void* first(int) const override { return first_; }
  void* second(int) const override { return second_; }
  bool destroys_input() const override { return first_ == second_; }
  void prepare() override { data_.prepare(); }
  void restore_input() override { data_.restore_input(); }
  double error(const std::function<void(void*)>& reorder) override {
    if (reorder) reorder(reversed_ ? first_ : second_);
    return data_.error();
  }
  void wait() override {}
  std::int64_t free_bytes() const override { return 0; }
  runtime::StreamTimer& timer() override { return *timer_; }
  void upload() override {}
  void download() override {}

 private:
  tuner::ProblemData data_;
  std::unique_ptr<runtime::StreamTimer> timer_;
  void *first_, *second_;
  bool reversed_;  // the output is the first array
};

class DeviceBenchArrays final : public BenchArrays {
 public:
  DeviceBenchArrays(const Problem& problem, std::uint64_t seed, const runtime::Backend& backend, int device)
      : data_(problem, seed),
        memory_(backend.memory(device)),
        timer_(backend.timer(device)),
        bytes_(array_bytes(problem)),
        reversed_(problem.kind == Kind::nufft && problem.type == 2),
        to_real_(problem.kind == Kind::fft && problem.fft_type == FftType::c2r) {
    if (problem.kind == Kind::nufft) points_ = DevicePoints(*memory_, problem, data_.points());
    for (int i = 0; i < rotated_sets(bytes_.both(), backend.traits(device).l2_bytes); ++i)
      sets_.push_back(
          {DeviceArray(*memory_, bytes_.first), DeviceArray(*memory_, bytes_.in_place ? 0 : bytes_.second)});
    for (const Set& set : sets_) {
      if (!bytes_.in_place) (reversed_ ? set.second : set.first).upload(input());
      poison(set);
    }
    if (!destroys_input()) return;
    kept_ = DeviceArray(*memory_, bytes_.first);
    kept_.upload(input());
    restore_input();
  }
  bool on_device() const override { return true; }
  Points points() const override { return points_.points(); }
  int sets() const override { return static_cast<int>(sets_.size()); }
  void* first(int set) const override { return at(set).first.data(); }
  void* second(int set) const override { return bytes_.in_place ? first(set) : at(set).second.data(); }
  bool destroys_input() const override { return bytes_.in_place || to_real_; }

  // Only the first set is checked. Its input is uploaded again, whatever an earlier contender did to it. The output is
  // overwritten on the device, which for large arrays takes a hundredth of the time that uploading NaNs would take.
  void prepare() override {
    if (destroys_input())
      restore_input();
    else
      (reversed_ ? at(0).second : at(0).first).upload(input());
    poison(at(0));
  }
  void restore_input() override {
    if (!destroys_input()) return;
    for (const Set& set : sets_) memory_->copy(set.first.data(), kept_.data(), kept_.bytes());
  }
  double error(const std::function<void(void*)>& reorder) override {
    download();
    if (reorder) reorder(reversed_ || bytes_.in_place ? data_.first() : data_.second());
    const double error = data_.error();
    if (bytes_.in_place) data_.restore_input();
    return error;
  }
  void wait() override { memory_->wait(); }
  std::int64_t free_bytes() const override { return memory_->free_bytes(); }
  runtime::StreamTimer& timer() override { return *timer_; }
  void upload() override {
    if (points_.points().x) points_.upload();
    (reversed_ ? at(0).second : at(0).first).upload(input());
  }
  void download() override {
    const bool to_first = reversed_ || bytes_.in_place;
    to_first ? at(0).first.download(data_.first()) : at(0).second.download(data_.second());
  }

 private:
  struct Set {
    DeviceArray first, second;
  };
  const Set& at(int set) const { return sets_[static_cast<std::size_t>(set)]; }
  void* input() { return reversed_ ? data_.second() : data_.first(); }
  // Fills every output with NaN.
  void poison(const Set& set) {
    if (bytes_.in_place) return;
    const DeviceArray& output = reversed_ ? set.first : set.second;
    memory_->fill(output.data(), 0xff, output.bytes());
  }

  tuner::ProblemData data_;
  std::unique_ptr<runtime::ArrayMemory> memory_;  // outlives the arrays below
  std::unique_ptr<runtime::StreamTimer> timer_;
  ArrayBytes bytes_;
  bool reversed_, to_real_;
  DevicePoints points_;
  std::vector<Set> sets_;
  DeviceArray kept_;  // a copy of the input, if a transform overwrites it
};

}  // namespace

std::unique_ptr<BenchArrays> make_bench_arrays(const Problem& problem, std::uint64_t seed,
                                               const runtime::Backend& backend, int device) {
  if (takes_host_arrays(backend)) return std::make_unique<HostBenchArrays>(problem, seed, backend);
  return std::make_unique<DeviceBenchArrays>(problem, seed, backend, device);
}

}  // namespace fourtune::tools
