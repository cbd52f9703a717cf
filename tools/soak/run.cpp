#include "tools/soak/run.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "tools/common/stopwatch.h"
#include "tools/soak/arrays.h"
#include "tools/soak/subject.h"

namespace fourtune::tools {
namespace {

using runtime::MemoryKind;
using tuner::Guard;

// The bytes that this process has from the allocator.
std::int64_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

class CaseRun {
 public:
  CaseRun(const CaseData& data, const SoakSetup& setup, SoakOutcome& outcome)
      : data_(data),
        setup_(setup),
        outcome_(outcome),
        arrays_(setup.backend->capabilities().arrays),
        gpu_(generator::is_gpu(setup.backend->traits(setup.device).backend)) {
    if (arrays_ == MemoryKind::device) memory_ = setup.backend->memory(setup.device);
    outcome_.allowed = allowed_error(data.one.problem);
  }

  // The numbered steps of a caller that trusts nothing.
  void run() {
    const std::int64_t heap = heap_bytes();
    create();                                // 1
    lay_arrays(Guard::behind);               // 2: inaccessible pages after every array
    set_points();                            // 3
    const Bytes first = execute_checked();   // 4
    check_memory(taken_since(heap, first));  // 5
    const Bytes second = execute_checked();  // 6: the same arrays again
    lay_arrays(Guard::before);               // 7: inaccessible pages before them
    set_points();
    const Bytes third = execute_checked();
    check_error(first);  // 8
    check_repeat(first, second, "a second run");
    check_repeat(first, third, "a run on other arrays");
    if (subject_->has_adjoint()) check_adjoint(third);  // 9
  }

 private:
  void create() {
    const Stopwatch watch;
    subject_ = setup_.dropin ? setup_.dropin->make(data_.one, setup_.device) : make_transform(data_.one, setup_);
    outcome_.create_seconds = watch.seconds();
    outcome_.plan = subject_->plan();
    if (const auto memory = subject_->memory()) outcome_.promised = memory->needed;
  }

  std::unique_ptr<WatchedArray> array(std::size_t bytes, Guard guard, std::size_t element) const {
    if (arrays_ == MemoryKind::device) return make_device_array(*memory_, bytes);
    constexpr std::size_t kGpuAlignment = 256;
    return make_host_array(bytes, guard, arrays_ == MemoryKind::aligned ? kGpuAlignment : element);
  }

  void lay_arrays(Guard guard) {
    const auto real = static_cast<std::size_t>(real_bytes(data_.one.problem.precision));
    first_.reset(), second_.reset();
    first_ = array(data_.first_bytes, guard, real);
    if (!data_.in_place) second_ = array(data_.second_bytes, guard, real);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      points_[i].reset();
      if (data_.coordinates[i].empty()) continue;
      points_[i] = array(data_.coordinates[i].size(), guard, real);
      points_[i]->write(data_.coordinates[i]);
    }
  }

  void set_points() {
    const Problem& problem = data_.one.problem;
    if (problem.kind == Kind::fft) return;
    const auto at = [&](std::size_t i) -> const void* { return points_[i] ? points_[i]->data() : nullptr; };
    Points points;
    points.m = *problem.m;
    points.x = at(0), points.y = at(1), points.z = at(2);
    if (problem.type == 3) points.k = *problem.k;
    points.s = at(3), points.t = at(4), points.u = at(5);
    const Stopwatch watch;
    subject_->set_points(points);
    wait();
    outcome_.set_points_seconds = watch.seconds();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i]) continue;
      check_outside(*points_[i], "the points");
      expect_unchanged(*points_[i], data_.coordinates[i], "set_points changed the points");
    }
  }

  WatchedArray& read_array() const { return data_.in_place || data_.reads_first ? *first_ : *second_; }
  WatchedArray& written_array() const { return data_.in_place || !data_.reads_first ? *first_ : *second_; }

  void execute(bool adjoint) {
    void* first = first_->data();
    void* second = data_.in_place ? first : second_->data();
    subject_->execute(first, second, adjoint);
    wait();
  }

  // Executes in the direction of the case on a fresh input, and returns the output.
  Bytes execute_checked() {
    if (!data_.in_place) written_array().write({});
    read_array().write(data_.input);
    const Stopwatch watch;
    execute(data_.one.adjoint);
    outcome_.execute_seconds = watch.seconds();
    check_outside(*first_, "the first array");
    if (second_) check_outside(*second_, "the second array");
    if (!data_.in_place) expect_unchanged(read_array(), data_.input, "the array that is read was changed");
    Bytes output(written_array().bytes());
    written_array().read(output);
    if (!data_.in_place && !gaps_unwritten(data_.to, output))
      throw Trouble{"gaps", "something was written between the elements of the output"};
    return output;
  }

  static void check_outside(const WatchedArray& array, const char* what) {
    if (array.touched_outside()) throw Trouble{"outside", fmt::format("something was written outside {}", what)};
  }
  static void expect_unchanged(const WatchedArray& array, const Bytes& before, const char* what) {
    Bytes now(before.size());
    array.read(now);
    if (now != before) throw Trouble{"input", what};
  }

  // Bytes taken by the transform, without our copy of the output.
  static std::int64_t taken_since(std::int64_t heap_before, const Bytes& output) {
    return heap_bytes() - heap_before - static_cast<std::int64_t>(output.capacity());
  }

  // The memory reported by create is an upper limit, and the transform holds what it reports. Copies of the points of
  // crowded bins are known only after set_points, so on a GPU such points have twice the room.
  void check_memory(std::int64_t taken) {
    const auto memory = subject_->memory();
    if (!memory) return;
    outcome_.held = memory->held;
    constexpr std::int64_t kSmall = 8 << 20;  // programs, plans, tables
    // The grids of a type 3 depend on the points and are unknown until these are set; an adjoint is made at first use.
    const bool known = !data_.one.adjoint && (data_.one.problem.kind == Kind::fft || data_.one.problem.type != 3);
    const bool crowded = gpu_ && data_.one.problem.kind == Kind::nufft;
    if (known && outcome_.held > outcome_.promised + outcome_.promised / (crowded ? 1 : 4) + kSmall)
      throw Trouble{"memory", fmt::format("{} bytes are held and {} were promised", outcome_.held, outcome_.promised)};
    if (gpu_) return;
    // The allocator also counts space left unused before arrays that begin at a huge page, one or two per thread.
    constexpr std::int64_t kHugePage = 2 << 20;
    const std::int64_t aligned = kHugePage * (2 * std::max(1, data_.one.threads) + 4);
    if (taken > outcome_.held + outcome_.held / 4 + kSmall + aligned)
      throw Trouble{"memory", fmt::format("{} bytes were taken and {} are said to be held", taken, outcome_.held)};
  }

  // The sources of the case's direction, and what it reads, as the device has them.
  tuner::DeviceInput sources_there() const {
    const std::size_t first = data_.one.problem.type == 3 && data_.one.adjoint ? 3 : 0;
    tuner::DeviceInput there;
    for (std::size_t d = 0; d < 3; ++d) there.x[d] = points_[first + d] ? points_[first + d]->data() : nullptr;
    there.values = read_array().data();
    return there;
  }
  void check_error(const Bytes& output) {
    outcome_.error = result_error(data_, subject_->reference_plan(), output, setup_.sums, sources_there());
    if (!(outcome_.error <= setup_.slack * outcome_.allowed))
      throw Trouble{"wrong", fmt::format("error {:.2e}, allowed is {:.1e}", outcome_.error, outcome_.allowed)};
  }

  // Sums in another order differ by rounding, which grows with the number of values that one cell receives and is
  // magnified by deconvolution: plans leave it a share of the tolerance.
  double rounding() const {
    const Problem& problem = data_.one.problem;
    const auto values = static_cast<double>(std::max(problem.m.value_or(1), problem.k.value_or(1)));
    const double sums = (problem.kind == Kind::fft ? 30 : 300) * epsilon(problem.precision) * (1 + std::sqrt(values));
    const double share = problem.kind == Kind::fft ? 0 : 0.3 * setup_.slack * outcome_.allowed;
    return std::min(2 * setup_.slack * outcome_.allowed, std::max(sums, share));
  }

  void check_repeat(const Bytes& one, const Bytes& other, const char* what) {
    const double off = difference(data_.to, one, other);
    outcome_.repeat = std::max(outcome_.repeat, off);
    if (data_.one.deterministic && !same_bits(data_.to, one, other))
      throw Trouble{"repeat", fmt::format("deterministic, and {} gives other bits, off by {:.2e}", what, off)};
    if (!(off <= rounding()))
      throw Trouble{"repeat", fmt::format("{} is off by {:.2e}, rounding is {:.1e}", what, off, rounding())};
  }

  // Compares <Ax, y> and <x, A*y> for y = Ax, which both arrays now hold.
  void check_adjoint(const Bytes& output) {
    if (!data_.in_place) {
      written_array().write(output);
      read_array().write({});
    }
    execute(!data_.one.adjoint);
    check_outside(*first_, "the first array, in the other direction");
    if (second_) check_outside(*second_, "the second array, in the other direction");
    if (!data_.in_place)
      expect_unchanged(written_array(), output, "in the other direction the array that is read was changed");
    Bytes back(read_array().bytes());
    read_array().read(back);
    const double forward = inner_product(data_.to, output, output);
    const double backward = inner_product(data_.from, data_.input, back);
    outcome_.mismatch = forward == backward ? 0 : std::abs(forward - backward) / forward;
    // The error of A is relative to |Ax|, that of A* to |A*Ax|, to which x may be almost orthogonal.
    const double norms =
        std::sqrt(inner_product(data_.from, data_.input, data_.input) * inner_product(data_.from, back, back));
    const double allowed = setup_.slack * outcome_.allowed * (forward > 0 ? 1 + norms / forward : 1);
    if (!(outcome_.mismatch <= allowed))
      throw Trouble{"adjoint", fmt::format("<Ax,Ax> and <x,A*Ax> are off by {:.2e}, allowed is {:.1e}",
                                           outcome_.mismatch, allowed)};
  }

  void wait() const {
    if (memory_) memory_->wait();
  }

  const CaseData& data_;
  const SoakSetup& setup_;
  SoakOutcome& outcome_;
  MemoryKind arrays_;
  bool gpu_;
  std::unique_ptr<runtime::ArrayMemory> memory_;  // memory of a device; outlives the arrays
  std::unique_ptr<Subject> subject_;
  std::unique_ptr<WatchedArray> first_, second_;
  std::array<std::unique_ptr<WatchedArray>, 6> points_;
};

// A forced plan may be refused with these statuses; the untuned plan may not.
bool refuses_a_plan(Status status) { return status == Status::invalid_plan || status == Status::unsupported; }

}  // namespace

SoakOutcome try_case(const CaseData& data, const SoakSetup& setup) {
  SoakOutcome outcome;
  try {
    CaseRun(data, setup, outcome).run();
  } catch (const Trouble& trouble) {
    outcome.failure = trouble.failure, outcome.message = trouble.message;
  } catch (const Error& error) {
    if (error.status() == Status::out_of_memory || (!setup.plan.empty() && refuses_a_plan(error.status()))) {
      outcome.refused = error.what();
    } else {
      outcome.failure = fmt::format("status {}", status_name(error.status()));
      outcome.message = error.what();
    }
  } catch (const std::bad_alloc&) {
    outcome.refused = "no room for the arrays";
  } catch (const std::exception& error) {
    outcome.failure = "exception", outcome.message = error.what();
  }
  return outcome;
}

}  // namespace fourtune::tools
