#include "tools/soak/fault.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "tools/common/device_arrays.h"

namespace fourtune::tools {
namespace {

constexpr std::array kKinds{"wrong", "noise", "behind", "before", "input", "crash", "hang"};

class FaultyExecutor final : public runtime::Executor {
 public:
  FaultyExecutor(const Problem& problem, std::unique_ptr<runtime::Executor> sound, std::string kind)
      : problem_(problem), sound_(std::move(sound)), kind_(std::move(kind)) {}

  void set_points(const runtime::PointSet& points) override {
    problem_.m = points.m;
    if (problem_.type == 3) problem_.k = points.k;
    sound_->set_points(points);
  }
  void execute(void* first, void* second, bool adjoint) override {
    sound_->execute(first, second, adjoint);
    const bool to_second = (problem_.kind == Kind::fft || problem_.type != 2) != adjoint;
    const ArrayBytes bytes = array_bytes(problem_);
    problem_.precision == Precision::f32
        ? strike(static_cast<float*>(to_second ? second : first), static_cast<float*>(to_second ? first : second),
                 to_second ? bytes.second : bytes.first)
        : strike(static_cast<double*>(to_second ? second : first), static_cast<double*>(to_second ? first : second),
                 to_second ? bytes.second : bytes.first);
  }
  MemoryUse memory() const override { return sound_->memory(); }
  std::span<const StageTime> stage_times() const override { return sound_->stage_times(); }
  const generator::Plan& plan() const override { return sound_->plan(); }

 private:
  template <class T>
  void strike(T* written, T* read, std::size_t written_bytes) {
    ++calls_;
    if (kind_ == "wrong") written[0] += T(1000);
    if (kind_ == "noise") written[0] *= static_cast<T>(calls_);
    if (kind_ == "behind") written[written_bytes / sizeof(T)] = T(0);
    if (kind_ == "before") written[-1] = T(0);
    if (kind_ == "input") read[0] = T(0);
    if (kind_ == "crash") {
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    while (kind_ == "hang") ::pause();
  }

  Problem problem_;
  std::unique_ptr<runtime::Executor> sound_;
  std::string kind_;
  int calls_ = 0;
};

class FaultyBackend final : public runtime::Backend {
 public:
  FaultyBackend(const runtime::Backend& sound, std::string kind, std::string text)
      : sound_(sound), kind_(std::move(kind)), text_(std::move(text)) {}
  std::string_view name() const override { return "faulty"; }
  runtime::Capabilities capabilities() const override { return sound_.capabilities(); }
  DeviceTraits traits_of(int device) const override { return sound_.traits(device); }
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions& options) const override {
    auto executor = sound_.bind(problem, plan, options);
    if (to_token(problem).find(text_) == std::string::npos) return executor;
    return std::make_unique<FaultyExecutor>(problem, std::move(executor), kind_);
  }

 private:
  const runtime::Backend& sound_;
  std::string kind_, text_;
};

}  // namespace

std::unique_ptr<runtime::Backend> faulty_backend(const runtime::Backend& sound) {
  const char* value = std::getenv("FOURTUNE_TEST_FAULT");
  const std::string setting = value ? value : "";
  const auto colon = setting.find(':');
  for (const char* kind : kKinds)
    if (colon != std::string::npos && setting.substr(0, colon) == kind)
      return std::make_unique<FaultyBackend>(sound, kind, setting.substr(colon + 1));
  return nullptr;
}

}  // namespace fourtune::tools
