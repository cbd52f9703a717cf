#include "tests/support/paper_plans.h"

namespace fourtune::test {

using namespace generator::fft;

FftPlan made_ready(FftPlan plan, DigitOrder order, const DeviceTraits& device) {
  plan.order = order;
  const std::size_t count = plan.kernels.size();
  for (std::size_t k = 0; order == DigitOrder::natural && k < count; ++k)
    plan.kernels[k].with.to = (count - 1 - k) % 2 ? Target::work : Target::out;
  return bind(plan, device);
}

FftPlan without(const FftPlan& plan, Dim gone) {
  FftPlan out = plan;
  for (Kernel& kernel : out.kernels) {
    std::erase_if(kernel.subs, [&](const SubFft& sub) { return sub.dim == gone; });
    for (SubFft& sub : kernel.subs)
      if (index(sub.dim) > index(gone)) sub.dim = static_cast<Dim>(index(sub.dim) - 1);
    if (kernel.subs.size() < 2) kernel.with.exchange = Exchange::none;
  }
  std::erase_if(out.kernels, [](const Kernel& kernel) { return kernel.subs.empty(); });
  return out;
}

}  // namespace fourtune::test
