#include "tests/support/fft_plans.h"

#include <algorithm>

#include "generator/plan/fft/geometry.h"

namespace fourtune::test {
namespace {

namespace fft = generator::fft;
using fft::Dim;

class PlanMaker {
 public:
  PlanMaker(std::mt19937& random, const RandomPlanLimits& limits) : random_(random), limits_(limits) {}

  fft::FftPlan make() {
    fft::FftPlan plan;
    plan.order = one_of({fft::DigitOrder::reversed, fft::DigitOrder::grouped, fft::DigitOrder::natural});
    plan.precision = one_of({Precision::f32, Precision::f64});
    plan.place = one_of({Place::out, Place::in});
    deal(plan);
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) choices(plan, plan.kernels[k]);
    agree(plan);
    targets(plan);  // may change layouts, which the tiles depend on
    if (limits_.bound)
      for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) bind(plan, k);
    agree(plan);
    return plan;
  }

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool coin() { return up_to(1) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[up_to(static_cast<int>(values.size()) - 1)];
  }

  std::vector<int> radices(std::int64_t& room) {
    std::vector<int> out;
    const int factors = 1 + up_to(2);
    for (int i = 0; i < factors; ++i) {
      const int radix = one_of({2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 16, 11, 13, 32});
      if (radix > room) continue;
      out.push_back(radix);
      room /= radix;
    }
    if (out.empty()) out.push_back(2), room /= 2;
    return out;
  }

  void deal(fft::FftPlan& plan) {
    const int dims = 1 + up_to(limits_.dims - 1);
    std::int64_t room = limits_.elements >> (dims - 1);
    std::vector<std::vector<fft::SubFft>> queues;
    for (int d = 0; d < dims; ++d) {
      const auto r = radices(room);
      room *= 2;
      std::int64_t length = 1;
      for (const int radix : r) length *= radix;
      std::vector<fft::SubFft> queue;
      std::int64_t n = length;
      for (const int radix : r) {
        queue.push_back({static_cast<Dim>(d), length / radix, radix, n / radix, n, n != radix});
        n /= radix;
      }
      std::reverse(queue.begin(), queue.end());  // elements are taken from the back
      queues.push_back(std::move(queue));
    }
    while (std::any_of(queues.begin(), queues.end(), [](const auto& q) { return !q.empty(); })) {
      auto& queue = queues[static_cast<std::size_t>(up_to(dims - 1))];
      if (queue.empty()) continue;
      if (plan.kernels.empty() || (up_to(2) == 0 && plan.kernels.size() < 8)) plan.kernels.emplace_back();
      plan.kernels.back().subs.push_back(queue.back());
      queue.pop_back();
    }
  }

  void choices(const fft::FftPlan& plan, fft::Kernel& kernel) {
    auto& with = kernel.with;
    with.exchange = kernel.subs.size() > 1 || coin() ? fft::Exchange::shared : fft::Exchange::none;
    if (with.exchange == fft::Exchange::shared) {
      with.parts = one_of({fft::Parts::together, fft::Parts::apart});
      with.banks = one_of({fft::Banks::plain, fft::Banks::pad, fft::Banks::swizzle});
      with.coalesce = one_of({fft::Coalesce::none, fft::Coalesce::load, fft::Coalesce::store, fft::Coalesce::both});
    }
    with.twiddle = one_of({fft::TwiddleForm::table, fft::TwiddleForm::computed});
    if (plan.precision == Precision::f32 && up_to(3) == 0) with.twiddle = fft::TwiddleForm::fast;
    with.store = one_of({fft::Store::place, fft::Store::grouped, fft::Store::sorted});
    with.load = one_of({fft::Load::plain, fft::Load::async, fft::Load::bulk});
    with.pipeline = with.load == fft::Load::plain ? 0 : 1 + up_to(3);
    with.cache = one_of({fft::Cache::all, fft::Cache::all, fft::Cache::l2, fft::Cache::stream});
    std::shuffle(with.blocks.begin(), with.blocks.begin() + fft::rank(plan), random_);
    if (coin()) with.registers = 16 + up_to(239);
  }

  void bind(fft::FftPlan& plan, int k) {
    auto& with = plan.kernels[static_cast<std::size_t>(k)].with;
    const int dims = fft::rank(plan);
    with.threads = 32 * (1 + up_to(31));
    with.tile = {1, 1, 1, 1};
    const auto g = fft::geometry(plan, k);
    for (int d = 0; d < dims; ++d) {
      const auto& dim = g.dims[static_cast<std::size_t>(d)];
      std::int64_t step = dim.free_count;
      for (const auto& own : dim.own) step = std::min(step, own.read_stride);
      std::vector<int> allowed;
      for (std::int64_t c = 1; c <= dim.free_count; ++c)
        if (dim.subs.empty() || (c <= step && step % c == 0) || (c % step == 0 && dim.free_count % c == 0))
          allowed.push_back(static_cast<int>(c));
      with.tile[static_cast<std::size_t>(d)] =
          allowed[static_cast<std::size_t>(up_to(static_cast<int>(allowed.size()) - 1))];
    }
    with.tile[static_cast<std::size_t>(dims)] = 1 + up_to(3);
    if (with.exchange == fft::Exchange::shared && fft::geometry(plan, k).tile_elements % 2 == 0 && coin())
      with.cluster = 2;
  }

  // Removes options that need powers of two, or a tile in one block, where these do not hold.
  static void agree(fft::FftPlan& plan) {
    for (const fft::Violation& violation : fft::check(plan)) {
      auto& with = plan.kernels[static_cast<std::size_t>(violation.kernel)].with;
      if (violation.rule == fft::Rule::banks) with.banks = fft::Banks::pad;
      if (violation.rule == fft::Rule::cluster) with.cluster = 1;
      if (violation.rule == fft::Rule::coalesce) with.coalesce = fft::Coalesce::none;
    }
  }

  // Chooses arrays that the rules allow: in place where that works, else the other array.
  void targets(fft::FftPlan& plan) {
    const auto bits = static_cast<unsigned>(up_to(255));
    for (unsigned attempt = 0; attempt < 256; ++attempt) {
      const unsigned choice = (bits + attempt) & 255U;
      for (std::size_t k = 0; k < plan.kernels.size(); ++k)
        plan.kernels[k].with.to = (choice >> k) & 1U ? fft::Target::work : fft::Target::out;
      plan.kernels.back().with.to = fft::Target::out;
      if (fft::check(plan).empty()) return;
    }
    plan.place = Place::out;  // the output array is free from the start
    plan.order = fft::DigitOrder::reversed;
    for (auto& kernel : plan.kernels) {
      kernel.with.store = fft::Store::place;
      kernel.with.to = fft::Target::out;
    }
  }

  std::mt19937& random_;
  RandomPlanLimits limits_;
};

}  // namespace

generator::fft::FftPlan random_plan(std::mt19937& random, const RandomPlanLimits& limits) {
  return PlanMaker(random, limits).make();
}

}  // namespace fourtune::test
