#include "dropin/common/kept_transforms.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

namespace fourtune::dropin {
namespace {

constexpr std::size_t kMost = 16;

struct Kept {
  std::string key;
  std::unique_ptr<Transform> transform;
  int device = 0;
  std::int64_t bytes = 0;
};

// The most recent one is first.
struct Store {
  std::mutex mutex;
  std::list<Kept> list;
};

// Never destroyed: at the end of a process, what transforms rest on may be gone before the store.
Store& store() {
  static Store* const only = [] {
    auto* made = new Store;
    // A fork while another thread holds the mutex would leave the child with a mutex that nobody opens.
    pthread_atfork([] { store().mutex.lock(); }, [] { store().mutex.unlock(); }, [] { store().mutex.unlock(); });
    return made;
  }();
  return *only;
}

std::string key_of(const std::string& token, const Options& options) {
  return fmt::format("{} {} {} {} {} {} {}", token, options.backend, options.device, options.threads,
                     static_cast<int>(options.mode_order), static_cast<int>(options.only), options.plan);
}

}  // namespace

std::unique_ptr<Transform> take_transform(const std::string& token, const Options& options) {
  const std::string key = key_of(token, options);
  {
    const std::lock_guard lock(store().mutex);
    auto& list = store().list;
    const auto found = std::find_if(list.begin(), list.end(), [&](const Kept& kept) { return kept.key == key; });
    if (found != list.end()) {
      auto transform = std::move(found->transform);
      list.erase(found);
      if (keeping.streams) transform->set_stream(options.stream);  // its work comes after what it has begun elsewhere
      return transform;
    }
  }
  return std::make_unique<Transform>(token, options);
}

void give_transform(const std::string& token, const Options& options, std::unique_ptr<Transform> transform) noexcept
    try {
  const std::int64_t bytes = transform->memory().held;
  const std::int64_t most = keeping.all(options.device);
  if (bytes > std::min(keeping.each, most)) return;
  std::list<Kept> first, last;  // what goes is destroyed once the mutex is free
  first.push_back({key_of(token, options), std::move(transform), options.device, bytes});
  const std::lock_guard lock(store().mutex);
  auto& list = store().list;
  list.splice(list.begin(), first);
  std::int64_t all = 0;
  std::size_t count = 0;
  for (auto at = list.begin(); at != list.end();) {
    const auto here = at++;
    const bool beside = here->device == options.device;
    if (beside) all += here->bytes;
    if (++count > kMost || (beside && all > most)) last.splice(last.end(), list, here);
  }
} catch (...) {  // without memory for the entry it is not kept
}

}  // namespace fourtune::dropin
