// Nonuniform transforms as handlers of XLA's foreign function interface: what compiled JAX programs call, on the
// processor and on CUDA GPUs, without Python and without copies.
//
//   operands    data (batch, *core), points (dim, m), for type 3 targets (dim, k)
//   result      (batch, *modes), (batch, m) or (batch, k) for types 1, 2, 3
//   attributes  nufft_type, isign, modeord (int64), eps (float64)
//
// Arrays are in C order and of one precision. Exported JAX programs contain these names, so they stay as they are.
// A problem is made of the shapes of the arrays, so no call can reach beyond them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "fourtune/fourtune.h"
#include "kept_plans.h"
#include "xla/ffi/api/ffi.h"

namespace fourtune::jax {
namespace {

namespace ffi = xla::ffi;

// Ends a handler; becomes the error that XLA reports.
struct Failure {
  ffi::ErrorCode code;
  std::string message;
};

[[noreturn]] void refuse(std::string message) {
  throw Failure{ffi::ErrorCode::kInvalidArgument, "fourtune: " + std::move(message)};
}

ffi::ErrorCode code_of(fourtune_status status) {
  switch (status) {
    case FOURTUNE_OUT_OF_MEMORY:
    case FOURTUNE_SIZE_OVERFLOW:
      return ffi::ErrorCode::kResourceExhausted;
    case FOURTUNE_BACKEND_UNAVAILABLE:
      return ffi::ErrorCode::kUnavailable;
    case FOURTUNE_UNSUPPORTED:
      return ffi::ErrorCode::kUnimplemented;
    case FOURTUNE_DATABASE:
    case FOURTUNE_IO:
    case FOURTUNE_INTERNAL:
      return ffi::ErrorCode::kInternal;
    default:
      return ffi::ErrorCode::kInvalidArgument;
  }
}

// JAX's first axis is Fourtune's last one, so a message calls x what the caller calls y or z.
std::string in_axes_of_arrays(std::string message, std::size_t dim) {
  const auto renamed = [&](char name) {
    for (const std::string names : {"xyz", "stu"}) {
      const std::size_t at = names.find(name);
      if (at < dim) return names[dim - 1 - at];
    }
    return name;
  };
  if (message.size() > 1 && message[1] == '[') message[0] = renamed(message[0]);
  const std::string word = "coordinate ";
  const std::size_t at = message.find(word);
  if (at != std::string::npos && at + word.size() < message.size())
    message[at + word.size()] = renamed(message[at + word.size()]);
  return message;
}

void check(fourtune_status status, std::size_t dim) {
  if (status == FOURTUNE_SUCCESS) return;
  throw Failure{code_of(status), "fourtune: " + in_axes_of_arrays(fourtune_last_error(), dim)};
}

using Shape = std::vector<std::int64_t>;

struct Array {
  explicit Array(const ffi::AnyBuffer& buffer)
      : type(buffer.element_type()),
        shape(buffer.dimensions().begin(), buffer.dimensions().end()),
        data(static_cast<char*>(buffer.untyped_data())) {}
  ffi::DataType type;
  Shape shape;
  char* data;
};

// An array without elements may have no address, where Fourtune asks for one.
void* address(char* data) {
  alignas(16) static char nothing[16];
  return data ? data : nothing;
}

// The rows of an array (dim, count), in Fourtune's order.
struct Coordinates {
  Coordinates() = default;
  explicit Coordinates(const Array& array) : count(array.shape[1]) {
    const std::int64_t row = count * (array.type == ffi::DataType::F32 ? 4 : 8);
    const std::int64_t dim = array.shape[0];
    for (std::int64_t d = 0; d < dim; ++d)
      at[static_cast<std::size_t>(d)] = address(array.data ? array.data + (dim - 1 - d) * row : nullptr);
  }
  std::int64_t count = 0;
  std::array<const void*, 3> at{};
};

struct Call {
  std::string problem;
  std::size_t dim;
  Coordinates points, targets;
  void *point_values, *mode_values;
};

Array operand(const ffi::RemainingArgs& operands, std::size_t at) {
  const auto buffer = operands.get<ffi::AnyBuffer>(at);
  if (!buffer) refuse(fmt::format("operand {} is no array", at));
  return Array(*buffer);
}

// Refuses what does not fit together, and names the problem that fits.
Call understood(const ffi::RemainingArgs& operands, const Array& result, std::int64_t type, double eps,
                std::int64_t isign) {
  if (type < 1 || type > 3) refuse(fmt::format("nufft_type is {}; 1, 2 or 3 would be right", type));
  const std::size_t right = type == 3 ? 3 : 2;
  if (operands.size() != right) refuse(fmt::format("{} operands; {} would be right", operands.size(), right));

  const Array data = operand(operands, 0), points = operand(operands, 1);
  if (points.shape.size() != 2 || points.shape[0] < 1 || points.shape[0] > 3)
    refuse(fmt::format("points have shape {}; (dim, m) with dim of 1 to 3 would be right", points.shape));
  const std::int64_t dim = points.shape[0], m = points.shape[1];
  const bool single = points.type == ffi::DataType::F32;
  const ffi::DataType complex = single ? ffi::DataType::C64 : ffi::DataType::C128;
  if ((!single && points.type != ffi::DataType::F64) || data.type != complex || result.type != complex)
    refuse("points are of float32 or float64, and data and the result complex of the same precision");

  Coordinates targets;
  Shape modes;
  if (type == 3) {
    const Array array = operand(operands, 2);
    if (array.shape.size() != 2 || array.shape[0] != dim || array.type != points.type)
      refuse(fmt::format("targets have shape {}; ({}, k), in the points' type, would be right", array.shape, dim));
    targets = Coordinates(array);
    modes = {array.shape[1]};
  } else {
    const Shape& with_modes = type == 1 ? result.shape : data.shape;
    if (std::ssize(with_modes) != dim + 1)
      refuse(fmt::format("modes have shape {}; a batch and {} axes would be right", with_modes, dim));
    modes.assign(with_modes.begin() + 1, with_modes.end());
  }
  const std::int64_t batch = data.shape.empty() ? 0 : data.shape[0];
  Shape of_points{batch, m}, of_modes{batch};
  of_modes.insert(of_modes.end(), modes.begin(), modes.end());
  const Shape& from = type == 2 ? of_modes : of_points;
  const Shape& to = type == 2 ? of_points : of_modes;
  if (data.shape != from || result.shape != to)
    refuse(fmt::format("data have shape {} and the result {}; {} and {} would be right", data.shape, result.shape, from,
                       to));

  std::reverse(modes.begin(), modes.end());
  const std::string sizes = type == 3 ? fmt::format("dim={}", dim) : fmt::format("n={}", fmt::join(modes, "x"));
  Call call{fmt::format("nufft:type={},{},prec={},tol={},batch={},sign={}", type, sizes, single ? "f32" : "f64", eps,
                        batch, isign),
            static_cast<std::size_t>(dim),
            Coordinates(points),
            targets,
            address(data.data),
            address(result.data)};
  if (type == 2) std::swap(call.point_values, call.mode_values);
  return call;
}

// Where a transform runs. The stream is part of a kept plan's key: work of one plan is then in the order of one stream.
struct Place {
  const char* backend;
  int device;
  void* stream;
};

// Never destroyed: XLA's threads may still run when the process ends.
KeptPlans& kept_plans() {
  static auto* plans = new KeptPlans(16, std::int64_t{1} << 30);
  return *plans;
}

Plan made(const Call& call, const Place& place, std::int64_t modeord) {
  fourtune_options options;
  check(fourtune_options_init(&options), call.dim);
  options.backend = place.backend;
  options.device = place.device;
  options.stream = place.stream;
  options.mode_order = modeord == 0 ? FOURTUNE_MODES_CENTRED : FOURTUNE_MODES_FFT;
  fourtune_transform* transform = nullptr;
  check(fourtune_create(call.problem.c_str(), &options, &transform), call.dim);
  return Plan(transform);
}

void run(const Call& call, const Place& place, std::int64_t modeord) {
  std::string key = fmt::format("{} {} {} {} {}", call.problem, modeord, place.backend, place.device, place.stream);
  Plan plan = kept_plans().take(key);
  if (!plan) plan = made(call, place, modeord);
  const auto &x = call.points.at, &s = call.targets.at;
  check(fourtune_set_points(plan.get(), call.points.count, x[0], x[1], x[2], call.targets.count, s[0], s[1], s[2]),
        call.dim);
  check(fourtune_execute(plan.get(), call.point_values, call.mode_values), call.dim);
  kept_plans().keep(std::move(key), std::move(plan));  // not after a failure
}

ffi::Error transform(const Place& place, const ffi::RemainingArgs& operands, const ffi::AnyBuffer& result,
                     std::int64_t type, double eps, std::int64_t isign, std::int64_t modeord) {
  try {
    run(understood(operands, Array(result), type, eps, isign), place, modeord);
    return ffi::Error::Success();
  } catch (const Failure& failure) {
    return {failure.code, failure.message};
  } catch (const std::bad_alloc&) {
    return {ffi::ErrorCode::kResourceExhausted, "fourtune: out of memory"};
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

ffi::Error on_processor(ffi::RemainingArgs operands, ffi::Result<ffi::AnyBuffer> result, std::int64_t type, double eps,
                        std::int64_t isign, std::int64_t modeord) {
  return transform({"cpu", 0, nullptr}, operands, *result, type, eps, isign, modeord);
}

ffi::Error on_gpu(void* stream, std::int32_t device, ffi::RemainingArgs operands, ffi::Result<ffi::AnyBuffer> result,
                  std::int64_t type, double eps, std::int64_t isign, std::int64_t modeord) {
  return transform({"cuda", device, stream}, operands, *result, type, eps, isign, modeord);
}

template <class Binding>
auto with_arrays_and_attributes(Binding binding) {
  return std::move(binding)
      .RemainingArgs()
      .template Ret<ffi::AnyBuffer>()
      .template Attr<std::int64_t>("nufft_type")
      .template Attr<double>("eps")
      .template Attr<std::int64_t>("isign")
      .template Attr<std::int64_t>("modeord");
}

XLA_FFI_DEFINE_HANDLER(handle_on_processor, on_processor, with_arrays_and_attributes(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER(
    handle_on_gpu, on_gpu,
    with_arrays_and_attributes(ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Ctx<ffi::DeviceOrdinal>()));

}  // namespace
}  // namespace fourtune::jax

// ---- what python/fourtune/_xla.py uses ----
extern "C" {

FOURTUNE_API XLA_FFI_Error* fourtune_jax_cpu(XLA_FFI_CallFrame* frame) {
  return fourtune::jax::handle_on_processor(frame);
}

FOURTUNE_API XLA_FFI_Error* fourtune_jax_cuda(XLA_FFI_CallFrame* frame) {
  // An older interface ends before the function that gives the number of the GPU.
  if (frame->extension_start == nullptr && frame->api->struct_size < XLA_FFI_Api_STRUCT_SIZE)
    return xla::ffi::internal::CreateError(
        frame->api,
        {xla::ffi::ErrorCode::kUnimplemented,
         "fourtune: this version of JAX does not say on which GPU a call runs; 0.7.2 or later would be right"});
  return fourtune::jax::handle_on_gpu(frame);
}

FOURTUNE_API void fourtune_jax_limit_plans(std::int64_t most, std::int64_t most_bytes) {
  fourtune::jax::kept_plans().limit(most, most_bytes);
}
FOURTUNE_API void fourtune_jax_clear_plans() { fourtune::jax::kept_plans().clear(); }
FOURTUNE_API std::int64_t fourtune_jax_kept_plans() { return fourtune::jax::kept_plans().count(); }
FOURTUNE_API std::int64_t fourtune_jax_kept_bytes() { return fourtune::jax::kept_plans().bytes(); }
}
