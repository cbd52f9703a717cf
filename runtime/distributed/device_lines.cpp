#include "runtime/distributed/device_lines.h"

#include "fourtune/problem.h"
#include "runtime/backends/gpu/program_backend.h"

namespace fourtune::runtime::distributed {
namespace {

std::optional<generator::GpuProgram> lines_program(const Problem& problem, const generator::Plan&,
                                                   const DeviceTraits& traits) {
  return generator::gpu_fft_lines_program(problem, problem.dim - 1, traits);
}
std::optional<generator::GpuProgram> steady_program(const Problem& problem, const generator::Plan&,
                                                    const DeviceTraits& traits) {
  return generator::gpu_fft_steady_lines_program(problem, problem.dim - 1, traits);
}

}  // namespace

DeviceLines::DeviceLines(const Backend& backend, const generator::Plan& plan, const Shape& shape,
                         const ExecutorOptions& options)
    : backend_(backend), plan_(plan), shape_(shape), options_(options) {
  if (plan.gpu().fft.family == generator::GpuFftFamily::cufft) return;
  const auto* const programs = dynamic_cast<const gpu::ProgramBackend*>(&backend);
  if (programs == nullptr)
    throw Error(Status::unsupported, "ranks=slabs: the backend " + std::string(backend.name()) + " makes no kernels");
  lines_backend_ = programs->with_programs(shape.steady ? steady_program : lines_program);
}
DeviceLines::~DeviceLines() = default;

void DeviceLines::prepare(std::int64_t count, std::int64_t arrays) {
  Problem problem;
  problem.kind = Kind::fft;
  problem.precision = shape_.precision;
  problem.sign = shape_.sign;
  if (lines_backend_) {  // the lines are a dimension that is only carried
    problem.dim = 2;
    problem.n = Sizes(count, shape_.length);
    const auto layout = [&](std::int64_t stride, std::int64_t distance) {
      return ArrayLayout{{1, stride}, distance > 0 ? distance : checked_multiply(shape_.length, stride, "lines")};
    };
    problem.batch = arrays;
    problem.input_layout = layout(shape_.from, shape_.from_distance);
    problem.output_layout = layout(shape_.to, shape_.to_distance);
  } else {
    problem.dim = 1;
    problem.n = Sizes(shape_.length);
    problem.batch = count;
    problem.input_layout = ArrayLayout{{shape_.from}, 1};
    problem.output_layout = ArrayLayout{{shape_.to}, 1};
  }
  ffts_[arrays].add(count,
                    [&] { return (lines_backend_ ? *lines_backend_ : backend_).bind(problem, plan_, options_); });
}

void DeviceLines::run(void* from, void* to, cpu::LineRange which, bool adjoint, std::int64_t arrays) {
  const std::int64_t at = which.first * 2 * real_bytes(shape_.precision);
  ffts_.at(arrays).find(which.count)->execute(static_cast<char*>(from) + at, static_cast<char*>(to) + at, adjoint);
}

std::int64_t DeviceLines::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [arrays, ffts] : ffts_) bytes += ffts.bytes();
  return bytes;
}

}  // namespace fourtune::runtime::distributed
