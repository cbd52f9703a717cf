#include "runtime/backends/cuda/cufft_api.h"

#include <fmt/format.h>

#include <array>

#include "runtime/backends/cuda/dynamic_library.h"
#include "runtime/backends/gpu/gpu_executor.h"

namespace fourtune::runtime::cuda {
namespace {

const char* load_all(const DynamicLibrary& library, CufftApi& api) {
#define FOURTUNE_LOAD(name) \
  if (!library.load(#name, api.name)) return #name;
  FOURTUNE_LOAD(cufftGetVersion)
  FOURTUNE_LOAD(cufftCreate)
  FOURTUNE_LOAD(cufftDestroy)
  FOURTUNE_LOAD(cufftSetAutoAllocation)
  FOURTUNE_LOAD(cufftMakePlanMany64)
  FOURTUNE_LOAD(cufftSetWorkArea)
  FOURTUNE_LOAD(cufftSetStream)
  FOURTUNE_LOAD(cufftExecC2C)
  FOURTUNE_LOAD(cufftExecZ2Z)
  FOURTUNE_LOAD(cufftExecR2C)
  FOURTUNE_LOAD(cufftExecD2Z)
  FOURTUNE_LOAD(cufftExecC2R)
  FOURTUNE_LOAD(cufftExecZ2D)
#undef FOURTUNE_LOAD
  return nullptr;
}

struct LoadedCufft {
  CufftApi api{};
  std::string why;
};

const LoadedCufft& loaded_cufft() {
  static const LoadedCufft& loaded = *[] {
    auto* const loaded_once = new LoadedCufft;  // outlives every plan
    LoadedCufft& made = *loaded_once;
    std::vector<std::string> names{"libcufft.so.12", "libcufft.so.11"};  // from CUDA 13 and 12
    if (why_no_driver().empty() && driver().version < 13000) names.erase(names.begin());
    const DynamicLibrary library = DynamicLibrary::open(names);
    if (library.empty()) {
      made.why = fmt::format("no cuFFT: {} cannot be loaded ({}); install the CUDA toolkit's cuFFT or set CUDA_HOME",
                             names.front(), library.why());
    } else if (const char* missing = load_all(library, made.api)) {
      made.why = fmt::format("cuFFT at {} has no {}", library.path(), missing);
    } else {
      made.api.path = library.path();
      made.api.cufftGetVersion(&made.api.version);
    }
    return loaded_once;
  }();
  return loaded;
}

void check_cufft(int result, const char* what) {
  static constexpr const char* kNames[] = {
      "SUCCESS",     "INVALID_PLAN", "ALLOC_FAILED",    "INVALID_TYPE",   "INVALID_VALUE", "INTERNAL_ERROR",
      "EXEC_FAILED", "SETUP_FAILED", "INVALID_SIZE",    "UNALIGNED_DATA", "error 10",      "INVALID_DEVICE",
      "error 12",    "NO_WORKSPACE", "NOT_IMPLEMENTED", "error 15",       "NOT_SUPPORTED"};
  if (result == 0) return;
  constexpr int kAllocation = 2, kSize = 8, kNotImplemented = 14, kNotSupported = 16;
  const Status status = result == kAllocation ? Status::out_of_memory
                        : result == kSize || result == kNotImplemented || result == kNotSupported ? Status::unsupported
                                                                                                  : Status::internal;
  const std::string name =
      result > 0 && result < static_cast<int>(std::size(kNames)) ? kNames[result] : fmt::format("error {}", result);
  throw Error(status, fmt::format("cuFFT, {}: {}", what, name));
}

cufftType type_of(const Problem& problem) {
  const bool single = problem.precision == Precision::f32;
  switch (problem.fft_type) {
    case FftType::r2c:
      return single ? CUFFT_R2C : CUFFT_D2Z;
    case FftType::c2r:
      return single ? CUFFT_C2R : CUFFT_Z2D;
    case FftType::c2c:
      break;
  }
  return single ? CUFFT_C2C : CUFFT_Z2Z;
}

}  // namespace

std::string why_no_cufft() { return loaded_cufft().why; }

const CufftApi& cufft() {
  const LoadedCufft& loaded = loaded_cufft();
  if (!loaded.why.empty()) throw Error(Status::backend_unavailable, loaded.why);
  return loaded.api;
}

CufftLayout cufft_layout(const ArrayLayout& layout, const Sizes& sizes, int dim) {
  if (dim > 3) throw Error(Status::unsupported, fmt::format("cuFFT does up to three dimensions, not {}", dim));
  CufftLayout made;
  made.stride = layout.stride[0];
  made.distance = layout.distance;
  // cuFFT: element (z, y, x) lies at ((z embed[1] + y) embed[2] + x) stride; the slowest dimension's embed is unused.
  std::int64_t unit = layout.stride[0];
  for (int d = 1; d < dim; ++d) {
    const std::int64_t next = layout.stride[d];
    if (unit <= 0 || next % unit != 0 || next / unit < sizes[d - 1])
      throw Error(Status::unsupported, fmt::format("cuFFT needs strides that are multiples of each other, at least the "
                                                   "sizes apart: {} after {} cannot be",
                                                   next, unit));
    made.embed[dim - d] = next / unit;
    unit = next;
  }
  made.embed[0] = sizes[dim - 1];
  return made;
}

CufftPlan::CufftPlan(std::shared_ptr<const Device> device, const Problem& problem)
    : device_(std::move(device)), problem_(problem) {
  const CufftApi& api = cufft();
  if ((problem.fft_type == FftType::r2c && problem.sign != -1) ||
      (problem.fft_type == FftType::c2r && problem.sign != 1))
    throw Error(Status::unsupported, "cuFFT does r2c with sign=-1 and c2r with sign=1 only");
  CufftLayout in = cufft_layout(resolved_input_layout(problem), input_sizes(problem), problem.dim);
  CufftLayout out = cufft_layout(resolved_output_layout(problem), output_sizes(problem), problem.dim);
  if (problem.batch == 1) in.distance = out.distance = 1;  // unused, but cuFFT refuses 0
  std::array<long long, 3> n{}, in_embed{}, out_embed{};
  for (int d = 0; d < problem.dim; ++d) {
    n[d] = problem.n[problem.dim - 1 - d];
    in_embed[d] = in.embed[d];
    out_embed[d] = out.embed[d];
  }
  const ContextGuard guard(*device_);
  check_cufft(api.cufftCreate(&handle_), "creating a plan");
  try {
    check_cufft(api.cufftSetAutoAllocation(handle_, 0), "taking over the work area");
    std::size_t bytes = 0;
    check_cufft(
        api.cufftMakePlanMany64(handle_, problem.dim, n.data(), in_embed.data(), in.stride, in.distance,
                                out_embed.data(), out.stride, out.distance, type_of(problem), problem.batch, &bytes),
        "planning");
    work_ = DeviceMemory(device_, bytes);
    if (bytes > 0) check_cufft(api.cufftSetWorkArea(handle_, work_.pointer()), "setting the work area");
    if (problem.fft_type == FftType::c2r && problem.place == Place::out)
      input_ = DeviceMemory(device_, gpu::input_bytes(problem));
  } catch (...) {
    api.cufftDestroy(handle_);
    throw;
  }
}

CufftPlan::~CufftPlan() {
  CUcontext ours = nullptr;
  if (driver().cuCtxPushCurrent(device_->context()) != CUDA_SUCCESS) return;
  for (CapturedCall& call : captured_) call.drop();
  cufft().cufftSetStream(handle_, nullptr);  // recordings leave it a stream that is no more
  cufft().cufftDestroy(handle_);
  driver().cuCtxPopCurrent(&ours);
}

void CufftPlan::execute(void* in, void* out, int sign, CUstream stream, bool alone) {
  const ContextGuard guard(*device_);
  if (input_.size() > 0) {
    check(driver().cuMemcpyDtoDAsync(input_.address(), reinterpret_cast<CUdeviceptr>(in), input_.size(), stream),
          "copying the input");
    in = input_.pointer();
  }
  const auto call_now = [&](void* from, void* to, CUstream on) { call(from, to, sign, on); };
  if (alone || !captured_[sign > 0 ? 1 : 0].start(device_, call_now, in, out, stream)) call(in, out, sign, stream);
}

void CufftPlan::call(void* in, void* out, int sign, CUstream stream) const {
  const CufftApi& api = cufft();
  check_cufft(api.cufftSetStream(handle_, stream), "setting the stream");
  const bool single = problem_.precision == Precision::f32;
  switch (problem_.fft_type) {
    case FftType::c2c:
      check_cufft((single ? api.cufftExecC2C : api.cufftExecZ2Z)(handle_, in, out, sign), "executing");
      break;
    case FftType::r2c:
      check_cufft((single ? api.cufftExecR2C : api.cufftExecD2Z)(handle_, in, out), "executing");
      break;
    case FftType::c2r:
      check_cufft((single ? api.cufftExecC2R : api.cufftExecZ2D)(handle_, in, out), "executing");
      break;
  }
}

}  // namespace fourtune::runtime::cuda
