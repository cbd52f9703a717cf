#include "tools/ranks/rank_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/backend_table.h"
#include "tools/common/stopwatch.h"

namespace fourtune::tools {
namespace {

template <class T>
double products(const Bytes& a, const Bytes& b) {
  const auto* const x = reinterpret_cast<const T*>(a.data());
  const auto* const y = reinterpret_cast<const T*>(b.data());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) / sizeof(T); ++i)
    sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

}  // namespace

RankBench::RankBench(MPI_Comm comm, const RankHardware& hardware)
    : comm_(comm), hardware_(hardware), backend_(runtime::find_backend(hardware.backend)), ranks_(MPI_Comm_c2f(comm)) {
  if (backend_.capabilities().arrays != runtime::MemoryKind::host)
    means_ = runtime::distributed::find_means(ranks_, backend_, device(), *backend_.streams(device()));
  else if (!generator::is_gpu(backend_.traits(0).backend))
    means_ = runtime::distributed::find_host_means(ranks_);
}

int RankBench::device() const {
  return hardware_.device >= 0 ? hardware_.device : ranks_.rank_on_machine() % std::max(1, backend_.device_count());
}

DeviceTraits RankBench::traits() const {
  const int threads = hardware_.threads;
  DeviceTraits traits = backend_.traits(device());
  if (generator::is_gpu(traits.backend)) return traits;
  traits.cores = threads > 0 ? std::min(threads, traits.cores) : std::max(1, traits.cores / ranks_.sharing());
  return traits;
}

bool RankBench::on_device(const DistributedTransform& transform) const {
  if (!memory_) return false;
  const std::string_view plan = transform.plan();
  return plan.starts_with("ranks=slabs") || plan.starts_with("ranks=replicated(exchange=nccl)");
}

void RankBench::upload() {
  for (std::size_t i = 0; memory_ && i < 2; ++i)
    memory_->upload(device_arrays_[i].data(), arrays_[i].data(), static_cast<std::int64_t>(arrays_[i].size()));
}
void RankBench::download() {
  for (std::size_t i = 0; memory_ && i < 2; ++i)
    memory_->download(arrays_[i].data(), device_arrays_[i].data(), static_cast<std::int64_t>(arrays_[i].size()));
}

void RankBench::load(const std::string& token, std::uint64_t seed) {
  release();
  data_.reset();
  device_arrays_ = {};
  memory_.reset();
  problem_ = parse_problem(token);
  reads_first_ = problem_.kind == Kind::fft || problem_.type != 2;
  sources_ = share_of(Deal::even, problem_.m.value_or(0), ranks_.rank(), ranks_.size());
  targets_ = share_of(Deal::even, problem_.k.value_or(0), ranks_.rank(), ranks_.size());
  Options options;
  options.default_databases = false;
  options.threads = 1;
  const DistributedTransform parts(token, MPI_Comm_c2f(comm_), options);  // refuses what cannot be split
  ranks_.together([&] {
    if (first()) data_ = std::make_unique<tuner::ProblemData>(problem_, seed);
  });
  boxes_ = {};
  arrays_ = {};
  fit(parts);
  deal_input();
  load_device();
  if (problem_.kind == Kind::fft) return;
  const runtime::PointSet all = first() ? data_->points() : runtime::PointSet{};
  const std::array<const void*, 6> whole{all.x, all.y, all.z, all.s, all.t, all.u};
  for (std::size_t i = 0; i < 6; ++i) {
    coordinates_[i].clear();
    if (static_cast<int>(i % 3) >= problem_.dim || (i >= 3 && problem_.type != 3)) continue;
    RankBox box = boxes_[i / 3];
    box.batch = 1;
    box.element = real_bytes(problem_.precision);
    coordinates_[i] = scatter(static_cast<const std::byte*>(whole[i]), box, comm_);
  }
}

void RankBench::fit(const DistributedTransform& transform) {
  const std::array<RankBox, 2> boxes = boxes_of(transform, problem_, sources_, targets_);
  if (boxes == boxes_) return;
  boxes_ = boxes;
  input_dealt_ = false;
  for (std::size_t i = 0; i < 2; ++i)
    arrays_[i].resize(static_cast<std::size_t>(boxes[i].part.count() * boxes[i].batch * boxes[i].element), kUnwritten);
}

void RankBench::deal_input() {
  if (ranks_.sum(input_dealt_ ? 0 : 1) == 0) return;
  const std::size_t from = reads_first_ ? 0 : 1;
  if (first()) data_->prepare();
  const auto* const input = static_cast<const std::byte*>(!first()    ? nullptr
                                                          : from == 0 ? data_->first()
                                                                      : data_->second());
  arrays_[from] = scatter(input, boxes_[from], comm_);
  input_dealt_ = true;
}

void RankBench::load_device() {
  if (backend_.capabilities().arrays == runtime::MemoryKind::host) return;
  ranks_.together([&] {
    memory_ = std::make_unique<runtime::DeviceCopy>(backend_, device());
    for (std::size_t i = 0; i < 2; ++i)
      memory_->resize(device_arrays_[i], static_cast<std::int64_t>(arrays_[i].size()));
    upload();
  });
}

double RankBench::bind(const std::string& plan) {
  Options options;
  options.default_databases = false;
  options.threads = hardware_.threads;
  options.backend = hardware_.backend;
  options.device = device();
  options.plan = plan;
  MPI_Barrier(comm_);
  const Stopwatch watch;
  transforms_.push_back(std::make_unique<DistributedTransform>(to_token(problem_), MPI_Comm_c2f(comm_), options));
  return ranks_.largest(watch.seconds());
}

double RankBench::set_points(std::size_t transform) {
  if (problem_.kind == Kind::fft) return 0;
  const auto at = [&](std::size_t i) -> const void* {
    return coordinates_[i].empty() ? nullptr : coordinates_[i].data();
  };
  const Points points{sources_.count, at(0), at(1), at(2), targets_.count, at(3), at(4), at(5)};
  double seconds = 0;
  for (int again = 0; again < 2; ++again) {
    MPI_Barrier(comm_);
    const Stopwatch watch;
    transforms_[transform]->set_points(points);
    const double now = ranks_.largest(watch.seconds());
    seconds = again == 0 ? now : std::min(seconds, now);
    if (seconds > 0.01) break;
  }
  return seconds;
}

void RankBench::execute(DistributedTransform& transform, bool adjoint) {
  const bool there = on_device(transform);
  void* const first = there ? device_arrays_[0].data() : arrays_[0].data();
  void* const second = there ? device_arrays_[1].data() : arrays_[1].data();
  adjoint ? transform.execute_adjoint(first, second) : transform.execute(first, second);
}

tuner::Validation RankBench::check(std::size_t transform) {
  const std::size_t to = reads_first_ ? 1 : 0;
  fit(*transforms_[transform]);
  deal_input();
  std::fill(arrays_[to].begin(), arrays_[to].end(), kUnwritten);
  upload();
  execute(*transforms_[transform], false);
  if (on_device(*transforms_[transform])) download();
  const Bytes whole = gather(arrays_[to], boxes_[to], comm_);
  tuner::Validation validation;
  ranks_.together([&] {
    if (!first()) return;
    data_->prepare();
    std::copy(whole.begin(), whole.end(), static_cast<std::byte*>(to == 0 ? data_->first() : data_->second()));
    validation.error = data_->error();
  });
  validation.adjoint_mismatch = mismatch(*transforms_[transform]);
  const double allowed = allowed_error(problem_);
  if (!(validation.error <= allowed)) {
    validation.message = fmt::format("error {:.2e}, up to {:.1e} is right", validation.error, allowed);
  } else if (!(validation.adjoint_mismatch <= allowed)) {
    validation.message = fmt::format("the adjoint differs by {:.2e}", validation.adjoint_mismatch);
  }
  validation.right = validation.message.empty();
  return validation;
}

// |<Ax, Ax> - <x, A*Ax>| / |Ax|^2; the output is Ax.
double RankBench::mismatch(DistributedTransform& transform) {
  if (problem_.kind == Kind::fft && problem_.fft_type != FftType::c2c) return 0;
  const std::size_t from = reads_first_ ? 0 : 1;
  const Bytes input = arrays_[from];
  const double norm = sum_of_products(arrays_[1 - from], arrays_[1 - from]);
  execute(transform, true);
  if (on_device(transform)) download();
  const double back = sum_of_products(input, arrays_[from]);
  arrays_[from] = input;
  upload();
  return norm > 0 ? std::abs(norm - back) / norm : std::abs(back);
}

double RankBench::sum_of_products(const Bytes& a, const Bytes& b) const {
  const double own = problem_.precision == Precision::f32 ? products<float>(a, b) : products<double>(a, b);
  double all = own;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
  return all;
}

double RankBench::run(std::size_t transform, int count) {
  fit(*transforms_[transform]);
  MPI_Barrier(comm_);
  const Stopwatch watch;
  for (int i = 0; i < count; ++i) execute(*transforms_[transform], false);
  return ranks_.largest(watch.seconds());
}

void RankBench::release() { transforms_.clear(); }

}  // namespace fourtune::tools
