#include "tuner/measure/compile_ahead.h"

#include <algorithm>
#include <utility>

namespace fourtune::tuner {

bool CompileAhead::Plan::done() const {
  return listing == State::done &&
         std::all_of(kernels.begin(), kernels.end(), [](const auto& kernel) { return kernel->state == State::done; });
}

CompileAhead::CompileAhead(int threads, std::function<KernelCompiler()> make_compiler, KeepKernel keep)
    : make_compiler_(std::move(make_compiler)),
      keep_(std::move(keep)),
      thread_count_(static_cast<std::size_t>(std::max(1, threads))) {
  for (std::size_t i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { run(); });
}

CompileAhead::~CompileAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  threads_.clear();  // joins
}

void CompileAhead::begin(const std::string& problem, ListKernels list) {
  const std::lock_guard lock(mutex_);
  problem_ = problem;
  list_ = std::move(list);
  std::erase_if(waiting_, [&](const auto& plan) { return plan->name.first != problem; });
  std::erase_if(plans_, [&](const auto& entry) { return entry.first.first != problem; });
  std::erase_if(known_, [](const auto& entry) { return entry.second->state == State::queued; });
}

void CompileAhead::queue(const Name& name, const ListKernels& list,
                         const std::deque<std::shared_ptr<Plan>>::iterator& before) {
  const auto [entry, fresh] = plans_.try_emplace(name);
  if (!fresh) return;
  entry->second = std::make_shared<Plan>();
  entry->second->name = name;
  entry->second->list = list;
  waiting_.insert(before, entry->second);
}

void CompileAhead::add(const std::vector<std::string>& plans) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& plan : plans)
      queue({problem_, plan}, list_, std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& other) {
              return other->name.first != problem_;
            }));
  }
  changed_.notify_all();
}

void CompileAhead::announce(const std::string& problem, const ListKernels& list,
                            const std::vector<std::string>& plans) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& plan : plans) queue({problem, plan}, list, waiting_.end());
  }
  changed_.notify_all();
}

bool CompileAhead::ready(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find({problem_, text});
  return found == plans_.end() || found->second->done();
}

void CompileAhead::finish(const std::string& text) {
  std::unique_lock lock(mutex_);
  const auto found = plans_.find({problem_, text});
  if (found == plans_.end()) return;
  const std::shared_ptr<Plan> plan = found->second;
  if (std::erase(waiting_, plan) > 0) waiting_.push_front(plan);
  changed_.notify_all();
  changed_.wait(lock, [&] { return plan->done(); });
  std::erase(waiting_, plan);
  if (plan->error) std::rethrow_exception(plan->error);
  for (const auto& kernel : plan->kernels)
    if (kernel->error) std::rethrow_exception(kernel->error);
}

std::size_t CompileAhead::ready_kernels() const {
  std::size_t count = 0;
  for (const auto& plan : waiting_)
    for (const auto& kernel : plan->kernels) count += kernel->state == State::queued;
  return count;
}

std::shared_ptr<CompileAhead::Plan> CompileAhead::next_plan() {
  if (ready_kernels() >= thread_count_) return nullptr;
  for (const auto& plan : waiting_)
    if (plan->listing == State::queued) return plan;
  return nullptr;
}

std::shared_ptr<CompileAhead::Kernel> CompileAhead::next_kernel() const {
  for (const auto& plan : waiting_) {
    std::shared_ptr<Kernel> slowest;
    for (const auto& kernel : plan->kernels)
      if (kernel->state == State::queued && (!slowest || kernel->job.weight > slowest->job.weight)) slowest = kernel;
    if (slowest) return slowest;
  }
  return nullptr;
}

void CompileAhead::run() {
  KernelCompiler compiler;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (const auto plan = next_plan())
      list(plan, lock);
    else if (const auto kernel = next_kernel())
      compile(kernel, compiler, lock);
    else
      changed_.wait(lock);
  }
}

void CompileAhead::list(const std::shared_ptr<Plan>& plan, std::unique_lock<std::mutex>& lock) {
  plan->listing = State::busy;
  lock.unlock();
  std::vector<runtime::KernelJob> jobs;
  std::exception_ptr error;
  try {
    jobs = plan->list(plan->name.second);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  plan->error = error;
  for (runtime::KernelJob& job : jobs) {
    std::string key = job.key;
    const auto [entry, fresh] = known_.try_emplace(std::move(key));
    if (fresh) entry->second = std::make_shared<Kernel>(Kernel{std::move(job), State::queued, nullptr});
    plan->kernels.push_back(entry->second);
  }
  plan->listing = State::done;
  changed_.notify_all();
}

void CompileAhead::compile(const std::shared_ptr<Kernel>& kernel, KernelCompiler& compiler,
                           std::unique_lock<std::mutex>& lock) {
  kernel->state = State::busy;
  const runtime::KernelJob job = std::exchange(kernel->job, {});  // its text is not needed any more
  lock.unlock();
  std::exception_ptr error;
  try {
    if (!compiler) compiler = make_compiler_();
    keep_(job, compiler(job));
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  kernel->error = error;
  kernel->state = State::done;
  changed_.notify_all();
}

}  // namespace fourtune::tuner
