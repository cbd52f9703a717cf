// Emitted text: golden files for a dozen plans, and properties that all texts must have. FOURTUNE_UPDATE_GOLDEN=1
// writes the files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "base/known_devices.h"
#include "fourtune/status.h"
#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/codegen/fft/emit/emit.h"
#include "generator/codegen/fft/emit/emit_pass.h"
#include "generator/codegen/fft/emit/pass_memory.h"
#include "generator/plan/fft/geometry.h"
#include "generator/planner/gpu_fft/enumerate.h"
#include "generator/planner/gpu_fft/published_plans.h"
#include "tests/support/paper_plans.h"

namespace fourtune::test {
namespace {

using namespace generator;
using namespace generator::fft;

struct Golden {
  const char* name;
  const char* plan;
};
const Golden kGolden[] = {
    {"line_16x16", "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4]:order=natural"},
    {"line_apart_f64",
     "{X(16,8,16,128,tw),X(8,16,1,16,no-tw)}[threads=64,tile=1x8,parts=apart]:order=natural,prec=f64"},
    {"line_reversed", "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4]"},
    {"line_mixed", "{X(6,10,6,60,tw),X(10,6,1,6,no-tw)}[threads=32,tile=1x3]:order=natural"},
    {"long_line",
     "{X(64,16,64,1024,tw)}[threads=64,tile=16x1,store=sorted,to=work]{X(64,16,4,64,tw),X(256,4,1,4,no-tw)}[threads=64,"
     "tile=16x1]:order=natural"},
    {"computed_twiddles", "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4,twiddle=computed]:order=natural"},
    {"fast_twiddles", "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4,twiddle=fast]:order=natural"},
    {"in_place_3d",
     "{X(4,8,4,32,tw),X(8,4,1,4,no-tw)}[threads=32,tile=1x8x1]{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw)}[threads=64,tile=16x1x1]"
     "{Z(1,16,1,16,no-tw)}[threads=32,tile=16x1x1]:order=natural,place=in"},
    {"two_pass_3d",
     "{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1x1,to=work]{Y(4,4,1,4,no-tw),Z(2,8,2,16,tw),"
     "Z(8,2,1,2,no-tw)}[threads=32,tile=8x1x1,parts=apart]:order=natural"},
    {"two_pass_3d_bulk",
     "{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1x1,load=bulk,pipeline=1,to=work]{Y(4,4,1,4,"
     "no-tw),Z(2,8,2,16,tw),Z(8,2,1,2,no-tw)}[threads=32,tile=8x1x1,parts=apart,load=bulk,pipeline=1]:order=natural"},
    {"cluster",
     "{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw),X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1x1,parts=apart,cluster=4]:"
     "order=natural"},
    {"primes",
     "{X(1,7,1,7,no-tw)}[threads=32,tile=1x8x1]{Y(1,11,1,11,no-tw)}[threads=32,tile=4x1x1]{Z(1,13,1,13,no-tw)}[threads="
     "32,tile=4x1x1]:order=natural"},
};

EmitOptions options_of(const FftPlan& plan) {
  EmitOptions o;
  o.n = lengths(plan);
  o.precision = plan.precision;
  o.in_place = plan.place == Place::in;
  return o;
}

// The kernels without the prelude and codelets, and the launches.
std::string summary(const FftPlan& plan) {
  const EmitOptions o = options_of(plan);
  std::string text = "// " + to_text(plan) + "\n";
  for (const PlannedPass& pass : plan_passes(plan, o).passes) text += "\n" + emit_pass(pass.spec).text;
  for (const Launch& launch : emit_program(plan, o).launches) {
    text += fmt::format("// launch: {} blocks,", launch.grid[0]);
    for (const auto& argument : launch.arguments) {
      const auto& buffer = std::get<BufferRef>(argument);
      static const char* where[] = {"first", "second", "work", "constant"};
      text += fmt::format(" {}{}", where[static_cast<int>(buffer.where)], buffer.index);
    }
    text += fmt::format(", {} bytes, steps {} and {}, {} operations\n", launch.bytes, launch.load_step,
                        launch.store_step, launch.flops);
  }
  return text;
}

TEST(FftEmit, GoldenText) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(golden.name);
    const std::string path = std::string(FOURTUNE_SOURCE_DIR) + "/tests/golden/fft/" + golden.name + ".cu";
    const std::string text = summary(parse_fft_plan(golden.plan));
    if (std::getenv("FOURTUNE_UPDATE_GOLDEN")) std::ofstream(path) << text;
    std::ifstream file(path);
    std::stringstream wanted;
    wanted << file.rdbuf();
    EXPECT_EQ(text, wanted.str());
  }
}

TEST(FftEmit, EmissionIsDeterministicAndNeedsNoHeader) {
  for (const Golden& golden : kGolden) {
    const FftPlan plan = parse_fft_plan(golden.plan);
    const GpuProgram program = emit_program(plan, options_of(plan));
    EXPECT_EQ(program, emit_program(plan, options_of(plan)));
    std::set<std::string> entries;
    for (const KernelSource& kernel : program.kernels) {
      EXPECT_EQ(kernel.text.find("#include"), std::string::npos);
      const std::size_t body = kernel.text.find("extern \"C\" __global__");
      ASSERT_NE(body, std::string::npos);
      EXPECT_NE(kernel.text.find("dev_follow();", body), std::string::npos) << "it may overtake the kernel before it";
      EXPECT_TRUE(entries.insert(kernel.entry).second);
      EXPECT_EQ(kernel.shared_bytes % 16, 0u);
    }
    for (const Launch& launch : program.launches) {
      EXPECT_GT(launch.bytes, 0);
      EXPECT_GT(launch.flops, 0);
      EXPECT_EQ(launch.stage, "fft");
    }
  }
}

// Every pass reads and writes each value once: this is the lower bound that the tuner prunes with.
TEST(FftEmit, BytesAreTwoPassesOverTheData) {
  const FftPlan plan = parse_fft_plan(kGolden[8].plan);
  std::int64_t bytes = 0;
  for (const Launch& launch : emit_program(plan, options_of(plan)).launches) bytes += launch.bytes;
  EXPECT_EQ(bytes, 2 * 2 * 8 * 32 * 16 * 16);
}

TEST(FftEmit, ExchangesOfPowersOfTwoHaveNoBankConflicts) {
  for (const Golden& golden : kGolden) {
    const FftPlan plan = parse_fft_plan(golden.plan);
    if (std::string(golden.name) == "line_mixed" || std::string(golden.name) == "primes") continue;
    for (const PlannedPass& pass : plan_passes(plan, options_of(plan)).passes)
      EXPECT_EQ(emit_pass(pass.spec).conflicts, 1) << golden.name;
  }
}

// Passes over shared memory of a round's first warps, relative to the least: counted lane by lane.
double counted_conflicts(const PassSpec& pass, const Round& round, const std::vector<std::int64_t>& stride, int word) {
  std::int64_t threads = 1;
  for (const int atom : round.threads) threads *= size_in(pass, round, atom);
  const std::int64_t lanes = std::min<std::int64_t>({threads, pass.threads, 128}), group = std::min(128 / word, 32);
  double passes = 0, groups = 0;
  for (std::int64_t first = 0; first < lanes; first += group, ++groups) {
    std::map<std::int64_t, std::set<std::int64_t>> banks;
    for (std::int64_t lane = first; lane < std::min(lanes, first + group); ++lane) {
      std::int64_t rest = lane, address = 0;
      for (const int atom : round.threads) {
        address += rest % size_in(pass, round, atom) * stride[static_cast<std::size_t>(atom)];
        rest /= size_in(pass, round, atom);
      }
      banks[address * (word / 4) % 32].insert(address);
    }
    std::size_t most = 0;
    for (const auto& bank : banks) most = std::max(most, bank.second.size());
    passes += static_cast<double>(most);
  }
  return passes / groups;
}

TEST(FftEmit, ConflictsOfAnExchangeAreThoseOfItsLanes) {
  int exchanges = 0, with_conflicts = 0;
  const std::vector<Sizes> shapes{{24, 25}, {375}, {600, 60}, {2401}, {1331}, {92, 46}, {256}, {7, 13, 11}, {4096}};
  for (const FftType type : {FftType::c2c, FftType::r2c, FftType::c2r})
    for (const Sizes& n : shapes) {
      EmitOptions options;
      options.type = type, options.batch = 5, options.n = n;
      for (const PlannedPass& pass : plan_passes(plain_plan(options), options).passes)
        for (std::size_t r = 0; r + 1 < pass.spec.rounds.size(); ++r)
          for (const int word : {4, 8, 16}) {
            const Round &from = pass.spec.rounds[r], &to = pass.spec.rounds[r + 1];
            const SharedLayout layout = shared_layout(pass.spec, from, to, word);
            if (!layout.bits.empty() || layout.values > 8192) continue;
            const double write = counted_conflicts(pass.spec, from, layout.stride, word),
                         read = counted_conflicts(pass.spec, to, layout.stride, word);
            EXPECT_DOUBLE_EQ(layout.conflicts, (write + read) / 2) << pass.spec.title << " " << word;
            ++exchanges, with_conflicts += layout.conflicts > 1 ? 1 : 0;
          }
    }
  EXPECT_GT(exchanges, 50);
  EXPECT_GT(with_conflicts, 5);
}

// The 256^3 two-pass plan: checks everything that its design depends on.
TEST(FftEmit, WideTilesExchangeWithoutConflictsInTheSharedMemoryOfOneBlock) {
  const FftPlan plan = parse_fft_plan(
      "{Y(16,16,16,256,tw),X(128,2,128,256,tw),X(16,16,8,128,tw),X(32,8,1,8,no-tw),Y(64,4,4,16,tw)}[threads=512,tile="
      "1x1x1,"
      "parts=apart,to=work]{Y(64,4,1,4,no-tw),Z(32,8,32,256,tw),Z(32,8,4,32,tw),Z(64,4,1,4,no-tw)}[threads=512,tile="
      "16x1x1,"
      "parts=apart,load=bulk,pipeline=1]:order=natural");
  const auto planned = plan_passes(plan, options_of(plan));
  ASSERT_EQ(planned.passes.size(), 2u);
  for (const PlannedPass& pass : planned.passes) {
    const PassText text = emit_pass(pass.spec);
    EXPECT_EQ(tile_values(pass.spec), 16384);
    EXPECT_EQ(text.conflicts, 1);
    EXPECT_LE(text.shared_bytes, 227u * 1024);
  }
  EXPECT_EQ(planned.passes[0].spec.rounds.size(), 3u);  // two exchanges
  EXPECT_EQ(planned.passes[1].spec.rounds.size(), 2u);  // one exchange
  // The workspace stores one tile of the second kernel after the other, so that its copies are long runs.
  EXPECT_NE(emit_pass(planned.passes[1].spec).text.find("8 runs of 2048 values"), std::string::npos);
}

TEST(FftEmit, APlanThatCannotBeLoweredIsRefusedByItsRuleAndNothingIsThrown) {
  const auto refusal = [](const char* text, const auto& change) {
    const FftPlan plan = parse_fft_plan(text);
    EmitOptions options = options_of(plan);
    change(options);
    const Lowering lowered = lower(plan, options);
    EXPECT_EQ(lowered.program.passes.empty(), !lowered.refusal.empty());
    return lowered.refusal;
  };
  const char* const line = "{X(1,16,1,16,no-tw)}[threads=32,tile=1x4]:order=natural";
  EXPECT_TRUE(refusal(line, [](EmitOptions& o) { o.n[0] = 32; }).starts_with("rule length: x")) << "32 is not 16";
  const auto spread_out = [](EmitOptions& o) {
    o.batch = 8, o.in_place = true;
    o.input = ArrayLayout{{1, 0, 0}, 16}, o.output = ArrayLayout{{1, 0, 0}, 32};
  };
  EXPECT_TRUE(refusal(line, spread_out).starts_with("rule target: kernel 1")) << refusal(line, spread_out);
  EXPECT_EQ(refusal(line, [](EmitOptions&) {}), "");
  const char* const cluster = "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=96,tile=1x4,cluster=2]:order=natural";
  const auto four = [](EmitOptions& o) { o.batch = 4; };
  EXPECT_TRUE(refusal(cluster, four).starts_with("rule cluster: {X")) << refusal(cluster, four);
}

TEST(FftEmit, SlabsLaunchTheSameWorkPieceByPiece) {
  const FftPlan plan = parse_fft_plan(kGolden[7].plan);
  EmitOptions o = options_of(plan);
  o.in_place = false;
  auto planned = plan_passes(plan, o);
  const GpuProgram whole = emit_program(planned, o);
  planned.slabs = {0, 2, 4};
  const GpuProgram pieces = emit_program(planned, o);
  ASSERT_EQ(pieces.launches.size(), 9u);
  const auto bytes = [](const GpuProgram& p) {
    return std::accumulate(p.launches.begin(), p.launches.end(), std::int64_t{0},
                           [](std::int64_t sum, const Launch& l) { return sum + l.bytes; });
  };
  EXPECT_EQ(bytes(whole), bytes(pieces));
  EXPECT_EQ(pieces.launches[2].grid[0] * 4, whole.launches[0].grid[0]);
  EXPECT_EQ(std::get<BufferRef>(pieces.launches[2].arguments[0]).byte_offset, 8 * 32 * 32 * 4);
}

TEST(FftEmit, WideOffsetsBeyondTwoToThe31Elements) {
  EmitOptions o;
  o.n = {2048, 2048, 1024};
  const GpuProgram program = emit_any_size(o);
  for (const KernelSource& kernel : program.kernels)
    EXPECT_NE(kernel.text.find("static_cast<long long>"), std::string::npos);
  o.n = {256, 256, 256};
  for (const KernelSource& kernel : emit_any_size(o).kernels)
    EXPECT_EQ(kernel.text.find("static_cast<long long>(tile"), std::string::npos);
}

// Reversed order in place, as in the paper; natural order between the output and a workspace.
TEST(FftEmit, ThePapersPlansEmitInBothOrders) {
  const DeviceTraits device = *known_device("h200");
  for (const PaperPlan& paper : published_plans())
    for (const DigitOrder order : {DigitOrder::reversed, DigitOrder::natural}) {
      SCOPED_TRACE(paper.title);
      const FftPlan plan = made_ready(parse_fft_plan(corrected(paper)), order, device);
      const GpuProgram program = emit_program(plan, options_of(plan));
      EXPECT_EQ(program.kernels.size(), plan.kernels.size());
      for (const Launch& launch : program.launches)
        EXPECT_EQ(launch.bytes, 16 * paper.lengths[0] * paper.lengths[1] * paper.lengths[2]);
    }
}

// Every enumerated plan can be emitted, in every form.
TEST(FftEmit, CandidatesEmit) {
  const auto device = *known_device("h200");
  const std::pair<Lengths, Precision> problems[] = {{{64, 64, 64}, Precision::f32},
                                                    {{48, 48, 48}, Precision::f64},
                                                    {{65536, 1, 1}, Precision::f32},
                                                    {{512, 256, 1}, Precision::f64}};
  for (const auto& [n, precision] : problems) {
    FftRequest request;
    request.lengths = n;
    request.precision = precision;
    EnumerationLimits limits;
    limits.forms = {true, true, true};
    limits.choices = 12;
    limits.plans = 600;
    limits.block_orders = 0;
    const auto found = fft_candidates(request, device, limits);
    ASSERT_GT(found.list.size(), 50u);
    for (std::size_t i = 0; i < found.list.size(); i += 1 + found.list.size() / 100) {
      const FftPlan& plan = found.list[i].plan;
      const Lowering lowered = lower(plan, options_of(plan));
      for (const PlannedPass& pass : lowered.program.passes)
        EXPECT_LE(emit_pass(pass.spec).shared_bytes, device.shared_per_block) << to_text(plan);
      // Whether clusters divide the first rounds is known only when values are assigned to threads.
      EXPECT_TRUE(lowered.refusal.empty() || lowered.refusal.starts_with("rule cluster: {"))
          << to_text(plan) << ": " << lowered.refusal;
    }
  }
}

TEST(FftEmit, StandaloneFilesAreWhole) {
  for (const Golden& golden : kGolden) {
    const FftPlan plan = parse_fft_plan(golden.plan);
    const EmitOptions o = options_of(plan);
    const std::string text = emit_standalone(emit_program(plan, o), plan, o);
    EXPECT_NE(text.find("int main()"), std::string::npos);
    EXPECT_NE(text.find(to_text(plan)), std::string::npos);
  }
  // The positions of results in another order: digits of one kernel in natural order, kernels reversed.
  const FftPlan plan = parse_fft_plan(
      "{X(4,2,4,8,tw),X(4,2,2,4,tw)}[threads=32,tile=2,store=grouped]{X(4,2,1,2,no-tw)}[threads=32,tile="
      "4]:order=grouped");
  const EmitOptions o = options_of(plan);
  EXPECT_NE(emit_standalone(emit_program(plan, o), plan, o).find("{8, 3, {2, 2, 2}, {2, 4, 1}}"), std::string::npos);
}

// Blocks would overwrite values that others still have to read.
TEST(FftEmit, AKernelThatMovesValuesInOneArrayIsRefused) {
  FftPlan plan = parse_fft_plan(kGolden[4].plan);
  plan.kernels[0].with.to = Target::out;
  plan.kernels[0].with.store = Store::place;
  plan.kernels[1].with.tile[0] = 8;  // two tiles, which read and write different positions
  EXPECT_THROW(emit_program(plan, options_of(plan)), Error);
}

TEST(FftEmit, WhatKernelsCannotDoIsRefusedWithAReason) {
  const auto refuses = [](const EmitOptions& o, const char* word) {
    try {
      emit_any_size(o);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  EmitOptions o;
  o.n = {10000019, 1, 1};
  refuses(o, "2^24");
  o.n = {67, 4, 1};
  o.hooks[1].input = fft::Pruning{};
  refuses(o, "prime factor");
}

// The tiles of the second kernel are 8 neighbours along y, whose digits have 3, 4 and 8 values, so no digit ends there.
// Half spectra have an odd number of values: of dense rows every other one would begin inside a sector.
TEST(FftEmit, RowsOfAWorkspaceBeginWhereLinesOfMemoryDo) {
  EmitOptions o;
  o.n = {256, 16, 12};
  o.type = FftType::c2r, o.sign = 1, o.precision = Precision::f64;
  const PlannedProgram program = plan_passes(plain_plan(o), o);
  ASSERT_GT(program.passes.size(), 1u);
  constexpr std::int64_t row = 129, line = 8;  // values
  for (std::size_t k = 0; k + 1 < program.passes.size(); ++k)
    for (const Port* port : {&program.passes[k].spec.store, &program.passes[k + 1].spec.load})
      for (const IndexTerm& term : port->address)
        if (term.weight >= row) {
          EXPECT_EQ(term.weight % line, 0) << k;
        }
  EXPECT_GE(program.work_values, (row + line - 1) / line * line * 16 * 12);
}

TEST(FftEmit, AWorkspaceIsNotTiledInsideADigit) {
  const FftPlan plan = parse_notation(
      "{Y(32,3,32,96,tw),Y(24,4,8,32,tw)}[threads=256,tile=256,store=sorted,to=work,load=bulk,pipeline=2]"
      "{X(32,16,32,512,tw),X(16,32,1,32,no-tw)}[threads=128,tile=1x8,load=bulk,pipeline=2]"
      "{Y(12,8,1,8,no-tw)}[threads=512,tile=256x2,load=bulk,pipeline=2]:order=natural");
  EmitOptions o = options_of(plan);
  o.batch = 7;
  for (const PlannedPass& pass : plan_passes(plan, o).passes)
    EXPECT_EQ(tile_count(pass.spec) * tile_values(pass.spec), 512 * 96 * 7) << pass.spec.title;
}

}  // namespace
}  // namespace fourtune::test
