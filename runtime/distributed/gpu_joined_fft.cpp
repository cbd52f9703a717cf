// A uniform FFT by slabs whose ranks have GPUs that see each other's memory (RankExchange::kernels). Every rank holds
// one array of whole planes (TranspositionShape::joined), and nothing is copied between the two steps: the last kernel
// of the first one stores a half of what belongs to other ranks into their arrays, and the first kernel of the second
// one loads the other half from where it is. So each step has the links for half of the bytes, hidden behind its memory
// traffic.
#include "generator/planner/gpu_fft/program.h"
#include "runtime/backends/cpu/base/stage_clock.h"
#include "runtime/backends/gpu/gpu_executor.h"
#include "runtime/backends/gpu/program_backend.h"
#include "runtime/backends/gpu/program_set.h"
#include "runtime/distributed/fft_geometry.h"
#include "runtime/distributed/joined_ranks.h"
#include "runtime/distributed/passed_array.h"
#include "runtime/distributed/peer_arrays.h"
#include "runtime/distributed/rank_executor.h"

namespace fourtune::runtime::distributed {
namespace {

using gpu::Access;
using Lane = DeviceStreams::Lane;

gpu::ProgramSet programs_of(const RankDevice& device) {
  const auto* const programs = dynamic_cast<const gpu::ProgramBackend*>(device.backend);
  if (programs == nullptr)
    throw Error(Status::unsupported,
                "exchange=kernels: the backend " + std::string(device.backend->name()) + " makes no kernels");
  return {programs->queue(device.number), device.streams->stream(Lane::work)};
}

class GpuJoinedFft final : public RankExecutor {
 public:
  GpuJoinedFft(const Communicator& ranks, const Problem& problem, const RankPlan& plan, const RankOptions& options,
               const RankDevice& device)
      : ranks_(ranks),
        problem_(problem),
        deterministic_(options.deterministic),
        of_(problem, ranks.rank(), plan.grid),
        streams_(*device.streams),
        memory_(*device.backend, device.number),
        peers_(ranks, streams_),
        programs_(programs_of(device)) {
    const TranspositionShape& middle = of_.middle;
    whole_ = checked_multiply(middle.planes.items() * middle.columns.items(), middle.run * middle.element, "planes");
    pieces_.assign(static_cast<std::size_t>(ranks.size()), {0, whole_});
    memory_.resize(joined_, whole_);
    make(false);
  }

  void set_points(const PointSet&) override {}
  void let_go() override { peers_.forget(); }

  void execute(void* first, void* second, bool adjoint) override {
    clock_.begin_execute();
    const bool to_columns = of_.to_spectrum != adjoint;
    if (!warm_[adjoint]) ranks_.together([&] { make(adjoint); });
    LocalWork local;
    char *space = nullptr, *spectrum = nullptr;
    local.run([&] {
      space = space_.bind(of_.to_spectrum ? first : second, problem_.batch * of_.space_bytes(), streams_, memory_);
      spectrum =
          spectrum_.bind(of_.to_spectrum ? second : first, problem_.batch * of_.spectrum_bytes(), streams_, memory_);
      clock_.time("upload", [&] {
        memory_.wait();  // for what the application has put on the default stream
        (to_columns ? space_ : spectrum_).upload(memory_);
      });
    });
    for (std::int64_t b = 0; b < problem_.batch; ++b) {
      const auto planes = [&] {
        local.run([&] { clock_.time("planes", [&] { transform_planes(space + b * of_.space_bytes(), adjoint); }); });
      };
      const auto lines = [&] {
        local.run(
            [&] { clock_.time("lines", [&] { transform_lines(spectrum + b * of_.spectrum_bytes(), adjoint); }); });
      };
      if (b > 0) local.run([&] { streams_.wait(Lane::work); });
      clock_.time("exchange", [&] { peers_.open(joined_.data()); });
      to_columns ? planes() : lines();
      clock_.time("exchange", [&] { peers_.meet(); });
      to_columns ? lines() : planes();
    }
    local.run([&] { clock_.time("wait", [&] { streams_.wait(Lane::work); }); });
    local.always([&] { peers_.rethrow(); });
    local.run([&] { clock_.time("download", [&] { (to_columns ? spectrum_ : space_).download(memory_); }); });
    local.end(ranks_, warm_[adjoint]);
  }

  MemoryUse memory() const override {
    const std::int64_t held = whole_ + programs_.bytes() + space_.bytes() + spectrum_.bytes();
    return {held, held};
  }
  // The stages before "exchange" and "wait" only begin their work.
  std::span<const StageTime> stage_times() const override { return clock_.times(); }

 private:
  // The programs of one direction.
  void make(bool adjoint) {
    if (made_[adjoint]) return;
    const bool to_columns = of_.to_spectrum != adjoint;
    const SharedRows rows = shared_rows(of_.middle);
    if (of_.own_planes > 0) {
      Problem plane = adjoint ? gpu::adjoint_problem(problem_) : problem_;
      plane.dim = problem_.dim - 1;
      plane.n[plane.dim] = 1;
      plane.batch = of_.own_planes;
      const bool weighted = adjoint && problem_.fft_type != FftType::c2c;
      planes_[adjoint] = programs_.add(
          generator::gpu_fft_ranks_program(plane, weighted, rows.of_planes_step(to_columns), programs_.traits()));
    }
    if (of_.lines > 0) {
      Problem lines;
      lines.kind = Kind::fft;
      lines.precision = problem_.precision;
      lines.sign = adjoint ? -problem_.sign : problem_.sign;
      lines.dim = 2;
      lines.n = Sizes(lines_step(), of_.length);
      const auto layout = [&](std::int64_t stride) {
        return ArrayLayout{{1, stride}, checked_multiply(of_.length, stride, "lines")};
      };
      const ArrayLayout joined = layout(of_.middle.columns.items() * of_.middle.run), own = layout(of_.lines);
      lines.input_layout = to_columns ? joined : own;
      lines.output_layout = to_columns ? own : joined;
      lines_[adjoint] = programs_.add(
          generator::gpu_fft_ranks_lines_program(lines, 1, rows.of_lines_step(to_columns), programs_.traits()));
    }
    made_[adjoint] = true;
  }

  // As GpuFftSlabs: each column by itself where bits must not depend on the ranks.
  std::int64_t lines_step() const { return deterministic_ ? of_.middle.run : of_.lines; }
  gpu::ProgramSet::Ranks ranks() const { return {peers_.all(), ranks_.rank(), pieces_}; }
  char* joined() const { return static_cast<char*>(joined_.data()); }

  void transform_planes(char* space, bool adjoint) {
    if (of_.own_planes == 0 || peers_.all().empty()) return;
    const std::int64_t plane = of_.spectrum_plane * of_.middle.element;
    const bool to_columns = of_.to_spectrum != adjoint;
    const gpu::ProgramSet::Array own{space, of_.space_bytes(), to_columns ? Access::in : Access::out};
    const gpu::ProgramSet::Array kept{joined() + of_.middle.planes.begin(ranks_.rank()) * plane, of_.own_planes * plane,
                                      Access::both, true};
    programs_.run(planes_[adjoint], to_columns ? own : kept, to_columns ? kept : own, ranks());
  }
  void transform_lines(char* spectrum, bool adjoint) {
    if (peers_.all().empty()) return;
    const std::int64_t element = of_.middle.element, first = of_.middle.columns.begin(ranks_.rank()) * of_.middle.run;
    const bool to_columns = of_.to_spectrum != adjoint;
    for (std::int64_t at = 0; at < of_.lines; at += lines_step()) {
      const std::int64_t bytes = ((of_.length - 1) * of_.lines + lines_step()) * element;
      const gpu::ProgramSet::Array own{spectrum + at * element, bytes, to_columns ? Access::both : Access::in};
      const gpu::ProgramSet::Array kept{joined() + (first + at) * element, 0, Access::both, true};
      programs_.run(lines_[adjoint], to_columns ? kept : own, to_columns ? own : kept, ranks());
    }
  }

  const Communicator& ranks_;
  Problem problem_;
  bool deterministic_;
  FftGeometry of_;
  DeviceStreams& streams_;
  DeviceCopy memory_;
  DeviceArray joined_;
  PeerArrays peers_;
  gpu::ProgramSet programs_;
  std::int64_t whole_ = 0;  // bytes of the joined array
  std::vector<gpu::ProgramSet::Ranks::Piece> pieces_;
  std::array<int, 2> planes_{}, lines_{};  // forward, adjoint
  std::array<bool, 2> made_{}, warm_{};
  PassedArray space_, spectrum_;
  cpu::StageClock clock_;
};

}  // namespace

std::unique_ptr<RankExecutor> make_gpu_joined_fft(const Communicator& ranks, const Problem& problem,
                                                  const RankPlan& plan, const RankOptions& options,
                                                  const RankDevice& device) {
  return std::make_unique<GpuJoinedFft>(ranks, problem, plan, options, device);
}

}  // namespace fourtune::runtime::distributed
