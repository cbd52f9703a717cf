// The functions of cuFFT that we define. Each calls the real one first, or lets our kernels execute in its place.
#include <cstddef>
#include <optional>
#include <vector>

#include "dropin/cufft/plans.h"
#include "dropin/cufft/real_library.h"
#include "dropin/cufft/shape.h"

namespace fourtune::dropin {
namespace {

// The real library's functions call each other by name, so they may come here again; then they are passed on.
thread_local int depth = 0;

class Call {
 public:
  explicit Call(const void* return_address) : real_(real_library(return_address)) { ++depth; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { --depth; }

  const RealLibrary* library() const { return real_; }
  bool is_passed_on() const { return depth > 1 || mode() == Mode::off || is_forked(); }
  // Calls the function of the real library.
  template <class Function, class... Arguments>
  int real(Function RealLibrary::*function, Arguments... arguments) const {
    if (!real_) return kCufftSetupFailed;
    return real_->*function ? (real_->*function)(arguments...) : kCufftNotSupported;
  }
  // Notes what the real library has made.
  int made(int result, CufftHandle handle, const std::optional<CufftShape>& shape, Why why_not) const noexcept {
    if (result == kCufftSuccess && !is_passed_on()) try {
        add_made_plan(real_, handle)->made(shape, why_not);
      } catch (...) {  // no memory: the plan is the real library's
      }
    return result;
  }
  // Notes what keeps our kernels from executing the plan, if the real library has taken it.
  int refused(int result, CufftHandle handle, Why why) const noexcept {
    if (result == kCufftSuccess && !is_passed_on()) try {
        add_plan(real_, handle)->refuse(why);
      } catch (...) {  // no memory: without an entry, the plan is the real library's
        drop_plan(real_, handle);
      }
    return result;
  }
  // Lets our kernels execute, or the real library, which `library` calls.
  template <class Library>
  int execute(CufftHandle handle, std::optional<KindOfFft> kind, void* in, void* out, int direction,
              const Library& library) const noexcept {
    const auto plan = real_ && !is_passed_on() ? find_plan(real_, handle) : nullptr;
    if (!plan) return library();
    if (const auto done = plan->execute(kind, in, out, direction)) return *done;
    const int result = library();
    plan->library_executed();
    return result;
  }

 private:
  const RealLibrary* real_;
};

std::optional<CufftShape> shape_of(int type, std::initializer_list<Long> n, Long batch = 1) noexcept {
  const auto kind = kind_of(type);
  if (!kind) return std::nullopt;
  return shape_of(*kind, {static_cast<int>(n.size()), n.begin(), nullptr, 1, 1, nullptr, 1, 1, batch});
}

// An array of 32-bit numbers as a wider one; null stays null.
struct Widened {
  Long values[3]{};
  bool given;
  Widened(const int* narrow, int rank) : given(narrow != nullptr) {
    for (int d = 0; narrow && d < rank && d < 3; ++d) values[d] = narrow[d];
  }
  const Long* get() const { return given ? values : nullptr; }
};

struct Embeds32 {
  const int *n, *in, *out;
  int in_stride, in_distance, out_stride, out_distance;
};
std::optional<CufftShape> shape_of(int type, int rank, const Embeds32& narrow, int batch) noexcept {
  const auto kind = kind_of(type);
  if (!kind) return std::nullopt;
  const Widened n(narrow.n, rank), in(narrow.in, rank), out(narrow.out, rank);
  return shape_of(*kind, {rank, n.get(), in.get(), narrow.in_stride, narrow.in_distance, out.get(), narrow.out_stride,
                          narrow.out_distance, batch});
}

// Why a shape that could not be made is not ours.
Why why_no_shape(int type) noexcept { return kind_of(type) ? Why::layout : Why::type; }

}  // namespace
}  // namespace fourtune::dropin

using namespace fourtune::dropin;
#define CALL() const Call call(__builtin_return_address(0))

#pragma GCC visibility push(default)
extern "C" {
int cufftPlan1d(CufftHandle* plan, int nx, int type, int batch) {
  CALL();
  const int result = call.real(&RealLibrary::cufftPlan1d, plan, nx, type, batch);
  return result ? result : call.made(result, *plan, shape_of(type, {nx}, batch), why_no_shape(type));
}
int cufftPlan2d(CufftHandle* plan, int nx, int ny, int type) {
  CALL();
  const int result = call.real(&RealLibrary::cufftPlan2d, plan, nx, ny, type);
  return result ? result : call.made(result, *plan, shape_of(type, {nx, ny}), why_no_shape(type));
}
int cufftPlan3d(CufftHandle* plan, int nx, int ny, int nz, int type) {
  CALL();
  const int result = call.real(&RealLibrary::cufftPlan3d, plan, nx, ny, nz, type);
  return result ? result : call.made(result, *plan, shape_of(type, {nx, ny, nz}), why_no_shape(type));
}
int cufftPlanMany(CufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                  int odist, int type, int batch) {
  CALL();
  const int result = call.real(&RealLibrary::cufftPlanMany, plan, rank, n, inembed, istride, idist, onembed, ostride,
                               odist, type, batch);
  if (result) return result;
  return call.made(result, *plan, shape_of(type, rank, {n, inembed, onembed, istride, idist, ostride, odist}, batch),
                   why_no_shape(type));
}
int cufftMakePlan1d(CufftHandle plan, int nx, int type, int batch, std::size_t* work) {
  CALL();
  return call.made(call.real(&RealLibrary::cufftMakePlan1d, plan, nx, type, batch, work), plan,
                   shape_of(type, {nx}, batch), why_no_shape(type));
}
int cufftMakePlan2d(CufftHandle plan, int nx, int ny, int type, std::size_t* work) {
  CALL();
  return call.made(call.real(&RealLibrary::cufftMakePlan2d, plan, nx, ny, type, work), plan, shape_of(type, {nx, ny}),
                   why_no_shape(type));
}
int cufftMakePlan3d(CufftHandle plan, int nx, int ny, int nz, int type, std::size_t* work) {
  CALL();
  return call.made(call.real(&RealLibrary::cufftMakePlan3d, plan, nx, ny, nz, type, work), plan,
                   shape_of(type, {nx, ny, nz}), why_no_shape(type));
}
int cufftMakePlanMany(CufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                      int ostride, int odist, int type, int batch, std::size_t* work) {
  CALL();
  const int result = call.real(&RealLibrary::cufftMakePlanMany, plan, rank, n, inembed, istride, idist, onembed,
                               ostride, odist, type, batch, work);
  return call.made(result, plan, shape_of(type, rank, {n, inembed, onembed, istride, idist, ostride, odist}, batch),
                   why_no_shape(type));
}
int cufftMakePlanMany64(CufftHandle plan, int rank, Long* n, Long* inembed, Long istride, Long idist, Long* onembed,
                        Long ostride, Long odist, int type, Long batch, std::size_t* work) {
  CALL();
  const int result = call.real(&RealLibrary::cufftMakePlanMany64, plan, rank, n, inembed, istride, idist, onembed,
                               ostride, odist, type, batch, work);
  const auto kind = kind_of(type);
  const ManyArguments many{rank, n, inembed, istride, idist, onembed, ostride, odist, batch};
  return call.made(result, plan, kind ? shape_of(*kind, many) : std::nullopt, why_no_shape(type));
}
int cufftXtMakePlanMany(CufftHandle plan, int rank, Long* n, Long* inembed, Long istride, Long idist, int input_type,
                        Long* onembed, Long ostride, Long odist, int output_type, Long batch, std::size_t* work,
                        int execution_type) {
  CALL();
  const int result = call.real(&RealLibrary::cufftXtMakePlanMany, plan, rank, n, inembed, istride, idist, input_type,
                               onembed, ostride, odist, output_type, batch, work, execution_type);
  const auto kind = kind_of(input_type, output_type, execution_type);
  const ManyArguments many{rank, n, inembed, istride, idist, onembed, ostride, odist, batch};
  return call.made(result, plan, kind ? shape_of(*kind, many) : std::nullopt, kind ? Why::layout : Why::type);
}

int cufftExecC2C(CufftHandle plan, void* in, void* out, int direction) {
  CALL();
  return call.execute(plan, kind_of(kC2C), in, out, direction,
                      [&] { return call.real(&RealLibrary::cufftExecC2C, plan, in, out, direction); });
}
int cufftExecZ2Z(CufftHandle plan, void* in, void* out, int direction) {
  CALL();
  return call.execute(plan, kind_of(kZ2Z), in, out, direction,
                      [&] { return call.real(&RealLibrary::cufftExecZ2Z, plan, in, out, direction); });
}
int cufftExecR2C(CufftHandle plan, void* in, void* out) {
  CALL();
  return call.execute(plan, kind_of(kR2C), in, out, kCufftForward,
                      [&] { return call.real(&RealLibrary::cufftExecR2C, plan, in, out); });
}
int cufftExecD2Z(CufftHandle plan, void* in, void* out) {
  CALL();
  return call.execute(plan, kind_of(kD2Z), in, out, kCufftForward,
                      [&] { return call.real(&RealLibrary::cufftExecD2Z, plan, in, out); });
}
int cufftExecC2R(CufftHandle plan, void* in, void* out) {
  CALL();
  return call.execute(plan, kind_of(kC2R), in, out, kCufftInverse,
                      [&] { return call.real(&RealLibrary::cufftExecC2R, plan, in, out); });
}
int cufftExecZ2D(CufftHandle plan, void* in, void* out) {
  CALL();
  return call.execute(plan, kind_of(kZ2D), in, out, kCufftInverse,
                      [&] { return call.real(&RealLibrary::cufftExecZ2D, plan, in, out); });
}
int cufftXtExec(CufftHandle plan, void* in, void* out, int direction) {
  CALL();
  return call.execute(plan, std::nullopt, in, out, direction,
                      [&] { return call.real(&RealLibrary::cufftXtExec, plan, in, out, direction); });
}

int cufftSetStream(CufftHandle plan, CufftStream stream) {
  CALL();
  const int result = call.real(&RealLibrary::cufftSetStream, plan, stream);
  if (result == kCufftSuccess && !call.is_passed_on()) try {
      add_plan(call.library(), plan)->set_stream(stream);
    } catch (...) {  // no memory: the real library executes, on this stream
      drop_plan(call.library(), plan);
    }
  return result;
}
int cufftXtSetGPUs(CufftHandle plan, int count, int* devices) {
  CALL();
  return call.refused(call.real(&RealLibrary::cufftXtSetGPUs, plan, count, devices), plan, Why::devices);
}
int cufftXtSetCallback(CufftHandle plan, void** routines, int type, void** info) {
  CALL();
  return call.refused(call.real(&RealLibrary::cufftXtSetCallback, plan, routines, type, info), plan, Why::callback);
}
int cufftXtSetJITCallback(CufftHandle plan, const char* name, const void* code, std::size_t size, int type,
                          void** info) {
  CALL();
  return call.refused(call.real(&RealLibrary::cufftXtSetJITCallback, plan, name, code, size, type, info), plan,
                      Why::callback);
}
int __cufftXtSetJITCallback_12_7(CufftHandle plan, const char* name, const void* code, std::size_t size, int type,
                                 void** info) {
  CALL();
  return call.refused(call.real(&RealLibrary::__cufftXtSetJITCallback_12_7, plan, name, code, size, type, info), plan,
                      Why::callback);
}
int cufftDestroy(CufftHandle plan) {
  CALL();
  if (call.library() && !call.is_passed_on()) drop_plan(call.library(), plan);
  return call.real(&RealLibrary::cufftDestroy, plan);
}
}  // extern "C"
#pragma GCC visibility pop
