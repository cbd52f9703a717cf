#include "runtime/backends/emulated/late_streams.h"

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "runtime/backends/emulated/placed_arrays.h"
#include "runtime/backends/emulated/shared_memory.h"
#include "runtime/backends/reached_memory.h"

namespace fourtune::runtime::emulated {
namespace {

class LateStreams final : public DeviceStreams {
 public:
  explicit LateStreams(int device) : device_(device) {}
  // A library that asks for a lane uses it now, so what is on it has to have run.
  void* stream(Lane lane) const override {
    catch_up(place_of(lane));
    return now_->stream(lane);
  }
  void copy(Lane lane, const Rows& to, const Rows& from, std::int64_t bytes, std::int64_t rows) override {
    if (is_reached(to.at)) count_reached_bytes(bytes * rows);
    put(lane, [=, this] { now_->copy(lane, to, from, bytes, rows); });
  }
  void follow(Lane later, Lane earlier) override { follow(later, place_of(earlier)); }
  void mark(int number, Lane lane) override { marks_[number] = place_of(lane); }
  void follow_mark(Lane later, int number) override { follow(later, marks_.at(number)); }
  void wait_for_mark(int number) override { catch_up(marks_.at(number)); }
  void wait(Lane lane) override { catch_up(place_of(lane)); }

  void* allocate_host(std::int64_t bytes) override { return now_->allocate_host(bytes); }
  void release_host(void* memory) noexcept override { now_->release_host(memory); }
  bool reaches(const void* array) const override {
    const int owner = owner_of(array);
    return (owner < 0 || owner == device_) && now_->reaches(array);
  }
  SharedPlace share(const void* array) const override { return shared_place(array); }
  void* reach(const SharedPlace& place) override { return reached_.reach(place); }
  void forget_shared() noexcept override { reached_.forget(); }
  double known_link(int) const override { return emulated_link(); }
  std::string identity() const override { return now_->identity(); }
  std::shared_ptr<void> current() const override { return now_->current(); }

 private:
  // How much has been put on a lane.
  struct Place {
    Lane lane = Lane::work;
    std::size_t count = 0;
  };
  struct Queue {
    std::size_t run = 0;  // how much of what has been put there
    std::deque<std::function<void()>> waiting;
  };
  Queue& queue(Lane lane) const { return queues_[static_cast<std::size_t>(lane)]; }
  Place place_of(Lane lane) const { return {lane, queue(lane).run + queue(lane).waiting.size()}; }

  void put(Lane lane, std::function<void()> work) {
    queue(lane).waiting.push_back(std::move(work));
    if (lane == Lane::work) catch_up(place_of(lane));
  }
  void follow(Lane later, Place earlier) {
    put(later, [this, earlier] { catch_up(earlier); });
  }
  // Runs a lane up to this place, and what that follows.
  void catch_up(Place place) const {
    Queue& lane = queue(place.lane);
    while (lane.run < place.count) {
      const std::function<void()> next = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      ++lane.run;
      next();
    }
  }

  int device_;
  std::unique_ptr<DeviceStreams> now_ = process_streams();
  mutable std::array<Queue, 3> queues_;
  std::map<int, Place> marks_;
  ReachedMemory reached_{open_shared, close_shared};
};

}  // namespace

std::unique_ptr<DeviceStreams> late_streams(int device) { return std::make_unique<LateStreams>(device); }

}  // namespace fourtune::runtime::emulated
