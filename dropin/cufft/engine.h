// Makes our transforms in the background, while the real library executes.
//
// One thread of the process chooses plans, compiles kernels and binds them, in the order of the wishes. It begins none
// while the program makes one plan after the other, for a second at most: the real library loads kernels for them under
// the locks of the driver that ours would hold. What plans give back when they end waits here for the next plan that is
// alike: 64 transforms at most, with 256 MiB of work memory together. At the end of the process the thread finishes the
// transform that it is at, if that takes no more than three seconds: a driver that is torn down while it works would
// crash. All functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "dropin/cufft/statistics.h"
#include "dropin/cufft/trial.h"
#include "fourtune/transform.h"

namespace fourtune::dropin {

// A transform, and where the program made its plan.
struct Wish {
  Problem problem;
  int device = 0;
  void* context = nullptr;  // the CUcontext that was current
  friend bool operator==(const Wish& a, const Wish& b) {
    return a.problem == b.problem && a.device == b.device && a.context == b.context;
  }
};

enum class JobState { waiting, ready, refused };

// What became of a wish. The transform may be used once the state is `ready`.
struct Job {
  Wish wish;
  std::atomic<JobState> state{JobState::waiting};
  std::unique_ptr<Transform> transform;
  std::unique_ptr<Trial> trial;  // null: the transform is not compared, or no longer
  Why why = Why::waiting;        // of a refusal
  bool recorded = false;         // a graph of the program's executes it: it stays as it is until the process ends
  bool abandoned = false;        // nobody waits for it any more; under the engine's mutex
  std::chrono::steady_clock::time_point latest;  // when it is begun, also while the program makes plans
};

// Does not wait. Null: it was the first request of its kind in the process, which is only noted. At once: then the
// transform is made, too, whatever the program does meanwhile. Throws std::bad_alloc and std::system_error.
std::shared_ptr<Job> request(const Wish& wish, bool at_once);
// The program has made a plan.
void note_new_plan() noexcept;
// Waits until the job is no longer `waiting`.
void wait_for(const Job& job);
// The plan that ordered it has ended.
void give_back(const std::shared_ptr<Job>& job) noexcept;
// The real library was faster. The job becomes `refused`, and so do later ones that are alike.
void give_up(Job& job) noexcept;
// In the child of a fork: forgets the thread, which is not there.
void abandon_engine() noexcept;

// For tests: the backend that executes in place of "cuda".
void use_backend(const std::string& name);
// Whether it does so on a device, with contexts and streams.
bool uses_device();

}  // namespace fourtune::dropin
