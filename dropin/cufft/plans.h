// The program's plans. Each is one of the real library, with its handle; what is ours hangs on the handle.
// functions.cpp has the functions of cuFFT that call them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "dropin/cufft/engine.h"
#include "dropin/cufft/real_library.h"
#include "dropin/cufft/shape.h"

namespace fourtune::dropin {

// Whether our kernels execute plans (FOURTUNE_CUFFT=off: never), and whether an execute waits for them (=wait).
enum class Mode { off, on, wait };
Mode mode() noexcept;

// Invariants:
// 1. Whatever happens, the real library can execute the plan, as the program's calls reached it too.
// 2. A direction and place (in or out) is ordered from the engine when it is executed for the second time in the
//    process, by this plan or one that is alike; with FOURTUNE_CUFFT=wait the first time.
// 3. An execute never waits, unless FOURTUNE_CUFFT is `wait` and the stream is not being recorded; and whatever it
//    leaves to the real library, it left untouched.
// 4. Where FOURTUNE_CUFFT is `on`, both execute in turns at first, and then the faster one does (trial.h).
// Threads: cuFFT wants one thread at a time per plan; several are safe here.
class InterposedPlan {
 public:
  InterposedPlan() = default;
  InterposedPlan(const InterposedPlan&) = delete;
  InterposedPlan& operator=(const InterposedPlan&) = delete;
  ~InterposedPlan();

  // The real library has made it for this shape; nullopt: one that we do not do, for that reason.
  void made(const std::optional<CufftShape>& shape, Why why_not) noexcept;
  bool is_made() noexcept;
  // The real library executes it from now on, and when it is made later.
  void refuse(Why why) noexcept;
  void set_stream(void* stream) noexcept;
  // An execute of this type, or of the plan's type (cufftXtExec: none). nullopt: the real library has to execute, and
  // library_executed() is called after it.
  std::optional<int> execute(std::optional<KindOfFft> kind, void* in, void* out, int direction) noexcept;
  void library_executed() noexcept;
  // Adds what it did to the statistics, once.
  void count() noexcept;

 private:
  struct Variant {
    std::shared_ptr<Job> job;
    std::optional<void*> stream;  // of the transform; nullopt: the one that an earlier plan used
    std::uintptr_t unfit = 0;     // arrays that are aligned to this or less were refused; 0: none was
    Why refused = Why::none;
  };
  std::optional<int> execute_ours(std::optional<KindOfFft> kind, void* in, void* out, int direction);
  void begin(Variant& variant, Place place, int direction);
  std::optional<int> run(Variant& variant, void* in, void* out);
  bool is_their_turn(Variant& variant);

  std::mutex mutex_;
  std::optional<CufftShape> shape_;  // none: not made yet, or the real library's alone
  Why why_not_ = Why::type;          // why the real library executed it last; a plan that we did not see made: type
  bool made_ = false, refused_ = false;
  int device_ = 0;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  std::array<Variant, 4> variants_;  // out of place and in place, forward and inverse
  std::shared_ptr<Job> timed_;       // whose trial times the real library's execute that is under way
  std::int64_t ours_ = 0, theirs_ = 0;
  bool counted_ = false;
};

// The plan of this handle, which the library gave; null: not ours to look at. `add_plan` returns it, or a new one.
std::shared_ptr<InterposedPlan> find_plan(const RealLibrary* library, CufftHandle handle) noexcept;
std::shared_ptr<InterposedPlan> add_plan(const RealLibrary* library, CufftHandle handle);
// One that the library has just made. What is left of a plan with this handle, which ended behind our back, goes.
std::shared_ptr<InterposedPlan> add_made_plan(const RealLibrary* library, CufftHandle handle);
void drop_plan(const RealLibrary* library, CufftHandle handle) noexcept;

// Whether this process was forked from one that had plans: then nothing is ours any more, and no CUDA works either.
bool is_forked() noexcept;

}  // namespace fourtune::dropin
