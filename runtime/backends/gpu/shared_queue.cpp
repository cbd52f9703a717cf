#include "runtime/backends/gpu/shared_queue.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace fourtune::runtime::gpu {
namespace {

// The shared pieces of memory, by the names under which executors request them.
constexpr const char* kShared[] = {"the fine grids", "the outer grids", "the inner grids", "the FFT's workspace",
                                   "scaled values"};

bool is_shared(const std::string& name) {
  return std::any_of(std::begin(kShared), std::end(kShared), [&](const char* known) { return name == known; });
}

class SharedMemory final : public QueueMemory {
 public:
  SharedMemory(std::shared_ptr<QueueMemory> memory, std::shared_ptr<bool> in_use)
      : memory_(std::move(memory)), in_use_(std::move(in_use)) {
    data = memory_->data;
    bytes = memory_->bytes;
    *in_use_ = true;
  }
  ~SharedMemory() override { *in_use_ = false; }

 private:
  std::shared_ptr<QueueMemory> memory_;
  std::shared_ptr<bool> in_use_;
};

}  // namespace

struct SharedQueue::State {
  std::unique_ptr<Queue> queue;
  // Pieces that one executor holds at the same time under one name are separate pieces.
  std::map<std::pair<std::string, std::size_t>, std::shared_ptr<QueueMemory>> pool;
  std::vector<generator::KernelSource> sources;
  std::vector<int> numbers;
  int marks = 0;
};

class SharedQueue::Handle final : public Queue {
 public:
  explicit Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}

  const DeviceTraits& traits() const override { return queue().traits(); }
  std::unique_ptr<QueueMemory> allocate(std::int64_t bytes, const char* name) override {
    if (!is_shared(name)) return queue().allocate(bytes, name);
    std::vector<std::shared_ptr<bool>>& taken = taken_[name];
    const auto free = std::find_if(taken.begin(), taken.end(), [](const auto& in_use) { return !*in_use; });
    const auto place = static_cast<std::size_t>(free - taken.begin());
    if (free == taken.end()) taken.push_back(std::make_shared<bool>(false));
    std::shared_ptr<QueueMemory>& memory = state_->pool[{name, place}];
    if (!memory || memory->bytes < bytes) {
      memory.reset();
      memory = queue().allocate(bytes, name);
    }
    return std::make_unique<SharedMemory>(memory, taken[place]);
  }
  void upload(QueueMemory& memory, std::span<const std::byte> bytes) override { queue().upload(memory, bytes); }
  std::vector<int> load(std::span<const generator::KernelSource> sources) override {
    std::vector<generator::KernelSource> fresh;
    for (const auto& source : sources)
      if (find(source) == state_->sources.end()) fresh.push_back(source);
    const std::vector<int> numbers = fresh.empty() ? std::vector<int>() : queue().load(fresh);
    state_->numbers.insert(state_->numbers.end(), numbers.begin(), numbers.end());
    for (auto& source : fresh) state_->sources.push_back(std::move(source));
    std::vector<int> out;
    for (const auto& source : sources)
      out.push_back(state_->numbers[static_cast<std::size_t>(find(source) - state_->sources.begin())]);
    return out;
  }
  std::vector<KernelReport> kernels() const override { return queue().kernels(); }
  std::unique_ptr<LibraryFft> library_fft(const Problem& problem) override { return queue().library_fft(problem); }
  void begin(void* stream) override { queue().begin(stream); }
  std::byte* open(void* array, std::int64_t bytes, Access access, const char* name) override {
    return queue().open(array, bytes, access, name);
  }
  void launch(int kernel, const generator::Extent3& grid, LaunchArguments& arguments) override {
    queue().launch(kernel, grid, arguments);
  }
  void flush() override { queue().flush(); }
  bool begin_rehearsal() override { return queue().begin_rehearsal(); }
  void end_rehearsal() override { queue().end_rehearsal(); }
  void read(void* host, const std::byte* device, std::size_t bytes) override { queue().read(host, device, bytes); }
  void end(bool completed) noexcept override { queue().end(completed); }
  void mark(int index) override { queue().mark(number_of_mark(index)); }
  double seconds(int from, int to) override { return queue().seconds(number_of_mark(from), number_of_mark(to)); }

 private:
  Queue& queue() const { return *state_->queue; }
  std::vector<generator::KernelSource>::iterator find(const generator::KernelSource& source) const {
    return std::find(state_->sources.begin(), state_->sources.end(), source);
  }
  int number_of_mark(int index) {
    while (marks_.size() <= static_cast<std::size_t>(index)) marks_.push_back(state_->marks++);
    return marks_[static_cast<std::size_t>(index)];
  }

  std::shared_ptr<State> state_;
  std::map<std::string, std::vector<std::shared_ptr<bool>>> taken_;
  std::vector<int> marks_;  // marks of the queue, by the executor's index
};

SharedQueue::SharedQueue(std::unique_ptr<Queue> queue) : state_(std::make_shared<State>()) {
  state_->queue = std::move(queue);
}
SharedQueue::~SharedQueue() = default;

std::unique_ptr<Queue> SharedQueue::share() { return std::make_unique<Handle>(state_); }

std::int64_t SharedQueue::counted_twice() const {
  std::int64_t bytes = 0;  // the pool's reference does not belong to an executor
  for (const auto& [name, memory] : state_->pool)
    bytes += std::max<std::int64_t>(0, static_cast<std::int64_t>(memory.use_count()) - 2) * memory->bytes;
  return bytes;
}

}  // namespace fourtune::runtime::gpu
