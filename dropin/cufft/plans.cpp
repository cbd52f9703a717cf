#include "dropin/cufft/plans.h"

#include <cxxabi.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "base/fork_safe_mutex.h"
#include "dropin/cufft/here.h"

namespace fourtune::dropin {
namespace {

struct Table {
  ForkSafeMutex mutex;
  std::map<std::pair<const RealLibrary*, CufftHandle>, std::shared_ptr<InterposedPlan>> plans;
  bool used = false, forked = false;
};
Table& table() {
  static Table* const only = [] {
    auto* made = new Table;  // never destroyed: plans are used until the process ends
    pthread_atfork(nullptr, nullptr, [] {
      if (!table().used) return;
      table().forked = true;
      abandon_engine();
      forget_counts();
    });
    return made;
  }();
  return *only;
}

// The largest power of two up to 256 that divides both addresses.
std::uintptr_t alignment_of(const void* in, const void* out) {
  const std::uintptr_t both = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out) | 256;
  return both & (~both + 1);
}

// Called by exit().
void at_the_end(void*) {
  if (is_forked()) return;
  {
    const std::lock_guard lock(table().mutex);
    for (auto& [key, plan] : table().plans) plan->count();
  }
  print_counts();
}

}  // namespace

Mode mode() noexcept {
  static const Mode chosen = [] {
    const char* const wanted = std::getenv("FOURTUNE_CUFFT");
    if (!wanted || *wanted == 0 || std::strcmp(wanted, "on") == 0) return Mode::on;
    if (std::strcmp(wanted, "off") == 0) return Mode::off;
    if (std::strcmp(wanted, "wait") == 0) return Mode::wait;
    // Somebody who meant off should not take our results for cuFFT's.
    print_line("fourtune_cufft: FOURTUNE_CUFFT is '%.40s', not on, off or wait; on is taken\n", wanted);
    return Mode::on;
  }();
  return chosen;
}

bool is_forked() noexcept { return table().forked; }

InterposedPlan::~InterposedPlan() {
  for (Variant& variant : variants_)
    if (variant.job) give_back(variant.job);
  count();
}

void InterposedPlan::count() noexcept {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(counted_, true)) count_plan(ours_, theirs_, why_not_);
}

void InterposedPlan::made(const std::optional<CufftShape>& shape, Why why_not) noexcept {
  const std::lock_guard lock(mutex_);
  made_ = true;
  if (refused_) return;
  shape_ = shape;
  if (shape && uses_device() && !current_device(device_, context_)) {
    shape_.reset();
    why_not = Why::context;
  }
  why_not_ = shape_ ? Why::once : why_not;
  if (mode() == Mode::on) note_new_plan();
}

bool InterposedPlan::is_made() noexcept {
  const std::lock_guard lock(mutex_);
  return made_;
}

void InterposedPlan::refuse(Why why) noexcept {
  const std::lock_guard lock(mutex_);
  why_not_ = why, refused_ = true;
  shape_.reset();
}

void InterposedPlan::set_stream(void* stream) noexcept {
  const std::lock_guard lock(mutex_);
  stream_ = stream;
}

std::optional<int> InterposedPlan::execute(std::optional<KindOfFft> kind, void* in, void* out, int direction) noexcept {
  const std::lock_guard lock(mutex_);
  std::optional<int> result;
  try {
    result = execute_ours(kind, in, out, direction);
  } catch (...) {  // no memory, or no thread
  }
  ++(result ? ours_ : theirs_);
  return result;
}

std::optional<int> InterposedPlan::execute_ours(std::optional<KindOfFft> kind, void* in, void* out, int direction) {
  if (!shape_ || !in || !out) return std::nullopt;
  if (kind && (kind->type != shape_->type || kind->precision != shape_->precision)) return std::nullopt;
  if (shape_->type != FftType::c2c)
    direction = kCufftForward;  // there is one
  else if (direction != kCufftForward && direction != kCufftInverse)
    return std::nullopt;
  const Place place = in == out ? Place::in : Place::out;
  Variant& variant = variants_[(place == Place::in ? 2 : 0) + (direction == kCufftInverse ? 1 : 0)];
  if (!variant.job && variant.refused == Why::none) begin(variant, place, direction);
  if (!variant.job) return std::nullopt;
  return run(variant, in, out);
}

void InterposedPlan::begin(Variant& variant, Place place, int direction) {
  try {
    variant.job = request({problem_of(*shape_, place, direction), device_, context_}, mode() == Mode::wait);
  } catch (const Error&) {
    variant.refused = Why::layout;
    why_not_ = Why::layout;
  }
}

std::optional<int> InterposedPlan::run(Variant& variant, void* in, void* out) {
  Job& job = *variant.job;
  if (job.state == JobState::waiting) {
    why_not_ = Why::waiting;
    if (mode() != Mode::wait || is_recorded(stream_)) return std::nullopt;
    wait_for(job);
  }
  if (job.state == JobState::refused) {
    variant.refused = why_not_ = job.why;
    variant.job.reset();
    return std::nullopt;
  }
  const std::uintptr_t alignment = alignment_of(in, out);
  if (variant.unfit >= alignment) return std::nullopt;
  if (is_recorded(stream_))
    job.recorded = true;
  else if (job.trial && mode() == Mode::on && !job.recorded && is_their_turn(variant))
    return std::nullopt;
  try {
    if (variant.stream != stream_) job.transform->set_stream(stream_);
    variant.stream = stream_;
    job.transform->execute(in, out);
    if (job.trial) job.trial->end(stream_);
    return kCufftSuccess;
  } catch (const Error& error) {
    job.trial.reset();
    if (error.status() == Status::invalid_argument) {  // arrays are looked at before anything starts
      variant.unfit = alignment;
      why_not_ = Why::pointers;
      return std::nullopt;
    }
    variant.refused = why_not_ = Why::failed;
    variant.job.reset();
    if (in == out) return kCufftExecFailed;  // some of it may be transformed
    return std::nullopt;
  }
}

// Whether the real library executes next, in a trial or because it has won.
bool InterposedPlan::is_their_turn(Variant& variant) {
  Job& job = *variant.job;
  if (timed_ == variant.job) return false;  // another thread is in the real library's execute
  const Side next = job.trial->begin(stream_);
  if (next == Side::ours) {
    if (job.trial->winner()) job.trial.reset();
    return false;
  }
  if (!job.trial->winner()) {
    timed_ = variant.job;
    return true;
  }
  give_up(job);
  variant.refused = why_not_ = Why::measured;
  variant.job.reset();
  return true;
}

void InterposedPlan::library_executed() noexcept {
  const std::lock_guard lock(mutex_);
  if (timed_ && timed_->trial) timed_->trial->end(stream_);
  timed_.reset();
}

std::shared_ptr<InterposedPlan> find_plan(const RealLibrary* library, CufftHandle handle) noexcept {
  const std::lock_guard lock(table().mutex);
  const auto found = table().plans.find({library, handle});
  return found == table().plans.end() ? nullptr : found->second;
}

std::shared_ptr<InterposedPlan> add_plan(const RealLibrary* library, CufftHandle handle) {
  const std::lock_guard lock(table().mutex);
  if (!std::exchange(table().used, true)) abi::__cxa_atexit(at_the_end, nullptr, nullptr);
  auto& plan = table().plans[{library, handle}];
  if (!plan) plan = std::make_shared<InterposedPlan>();
  return plan;
}

std::shared_ptr<InterposedPlan> add_made_plan(const RealLibrary* library, CufftHandle handle) {
  if (const auto old = find_plan(library, handle); old && old->is_made()) drop_plan(library, handle);
  return add_plan(library, handle);
}

void drop_plan(const RealLibrary* library, CufftHandle handle) noexcept {
  std::shared_ptr<InterposedPlan> plan;  // destroyed without the mutex
  const std::lock_guard lock(table().mutex);
  const auto found = table().plans.find({library, handle});
  if (found == table().plans.end()) return;
  plan = std::move(found->second);
  table().plans.erase(found);
}

}  // namespace fourtune::dropin
