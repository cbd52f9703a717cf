// Emits kernels with every parameter and runs them on the emulator in every order of threads and blocks: exchanges by
// shuffles, swizzled and dense shared memory, any number of landing buffers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generator/codegen/fft/any_length/any_size.h"
#include "generator/plan/fft/geometry.h"
#include "tests/generator/fft_reference.h"
#include "tests/support/fft_plans.h"

namespace fourtune::test {
namespace {

using namespace generator::fft;

// A device with two resident blocks, so that persistent kernels repeat their loop many times.
DeviceTraits small_device(int threads) {
  DeviceTraits device = *generator::known_device("h200");
  device.multiprocessors = 2;
  device.threads_per_multiprocessor = threads;
  return device;
}

// For the small device.
EmitOptions small_options_of(const FftPlan& plan, int sign = -1, std::int64_t batch = 1) {
  EmitOptions o = options_of(plan, sign, batch);
  o.device = small_device(plan.kernels.front().with.threads);
  return o;
}

void expect_right(const std::string& text, int sign, std::int64_t batch,
                  const std::function<void(const generator::GpuProgram&)>& look = {}) {
  SCOPED_TRACE(text);
  const FftPlan plan = parse_fft_plan(text);
  EXPECT_EQ(to_text(parse_fft_plan(to_text(plan))), to_text(plan));
  const EmitOptions o = small_options_of(plan, sign, batch);
  const auto program = emit_program(plan, o);
  if (look) look(program);
  EXPECT_LT(program_error(program, o, true), allowed(o));
}

TEST(EmulatedFftParameters, ShufflesNeedNoSharedMemory) {
  const char* plans[] = {
      "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4,exchange=shuffle]:order=natural",
      "{X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1x8,exchange=shuffle]:order=natural,prec=f64",
      "{X(16,4,16,64,tw),X(16,4,4,16,tw),X(16,4,1,4,no-tw)}[threads=96,tile=1x4,exchange=shuffle]:order=natural",
      "{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(2,8,2,16,tw),Y(8,2,1,2,no-tw)}[threads=32,tile=1x1,exchange=shuffle]:order="
      "natural",
      "{X(1,16,1,16,no-tw)}[threads=32,tile=1x16]{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw)}[threads=32,tile=8x1,exchange="
      "shuffle]"
      ":order=natural,place=in",
  };
  for (const std::string text : plans) {
    if (text.find("threads=96") != std::string::npos) continue;
    expect_right(text, -1, 3, [](const generator::GpuProgram& program) {
      EXPECT_EQ(program.kernels.back().shared_bytes, 0u);
      EXPECT_NE(program.kernels.back().text.find("ft_trade(x["), std::string::npos);
    });
  }
  EXPECT_THROW(parse_fft_plan(plans[2]), Error);
}

TEST(EmulatedFftParameters, SwizzledAndDenseSharedMemory) {
  for (const std::string banks : {"swizzle", "plain"})
    for (const std::string text :
         {"{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4,BANKS]:order=natural",
          "{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x4,parts=apart,BANKS]:order=natural,prec=f64",
          "{X(16,4,16,64,tw),X(16,4,4,16,tw),X(16,4,1,4,no-tw)}[threads=64,tile=1x4,BANKS]",
          "{Y(4,8,4,32,tw),Y(8,4,1,4,no-tw),X(8,4,8,32,tw),X(4,8,1,8,no-tw)}[threads=32,tile=1x1,parts=apart,BANKS,"
          "cluster=4]:order=natural",
          "{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1x1,BANKS,to=work]{Y(4,4,1,4,no-tw),"
          "Z(2,8,2,16,tw),Z(8,2,1,2,no-tw)}[threads=32,tile=8x1x1,parts=apart,BANKS]:order=natural"}) {
      std::string plan = text;
      for (std::size_t at; (at = plan.find("BANKS")) != std::string::npos;) plan.replace(at, 5, "banks=" + banks);
      if (plan.find(":order") == std::string::npos) {
        const FftPlan p = parse_fft_plan(plan);
        EXPECT_NO_THROW(emit_program(p, small_options_of(p)));
        continue;
      }
      expect_right(plan, 1, 3, [&](const generator::GpuProgram& program) {
        for (const auto& kernel : program.kernels) EXPECT_EQ(kernel.shared_bytes % 128, 0u);
        if (banks == "swizzle")
          EXPECT_NE(program.kernels[0].text.find("(a ^ "), std::string::npos);
        else
          EXPECT_EQ(program.kernels[0].text.find("(a ^ "), std::string::npos);
      });
    }
}

TEST(EmulatedFftParameters, ChosenCachesForLoadsAndStores) {
  struct Chosen {
    const char *cache, *load, *store;
  };
  for (const Chosen& chosen : {Chosen{"l2", "__ldcg(&", "__stcg(&"}, Chosen{"stream", "__ldcs(&", "__stcs(&"}})
    for (const std::string ahead : {"", ",load=async,pipeline=2"})
      for (const std::string place : {"", ",prec=f64,place=in"})
        expect_right("{X(3,4,3,12,tw),X(4,3,1,3,no-tw)}[threads=32,tile=1x5" + ahead + ",cache=" + chosen.cache +
                         "]{Y(1,7,1,7,no-tw)}[threads=32,tile=12]:order=natural" + place,
                     -1, 3, [&](const generator::GpuProgram& program) {
                       const std::string &first = program.kernels[0].text, &second = program.kernels[1].text;
                       EXPECT_EQ(first.find(chosen.load) == std::string::npos, !ahead.empty());
                       EXPECT_NE(first.find(chosen.store), std::string::npos);
                       EXPECT_EQ(second.find("__ld"), std::string::npos) << "the other kernel keeps the default";
                       EXPECT_EQ(second.find("__st"), std::string::npos);
                     });
}

// What the lanes of the first warp add to an address in this round, for the first value of each.
std::vector<std::int64_t> addresses_of_a_warp(const PassSpec& pass, const Round& round, const Index& address) {
  std::vector<std::int64_t> out(32, 0);
  for (std::int64_t lane = 0; lane < 32; ++lane) {
    std::int64_t rest = lane;
    for (const int atom : round.threads) {
      const std::int64_t size = pass.atoms[static_cast<std::size_t>(atom)].size;
      out[static_cast<std::size_t>(lane)] += rest % size * weight_of(address, atom);
      rest /= size;
    }
  }
  return out;
}

// Short lines that a thread transforms alone: tiles that fill the threads, that do not, and that end behind the batch.
TEST(EmulatedFftParameters, CoalescedRoundsGiveNeighboursInMemoryToNeighbouringThreads) {
  std::vector<std::int64_t> neighbours(32);
  for (std::size_t lane = 0; lane < neighbours.size(); ++lane) neighbours[lane] = static_cast<std::int64_t>(lane);
  struct Line {
    std::string subs;
    int lines, threads;
  };
  for (const Line& line :
       {Line{"X(1,8,1,8,no-tw)", 64, 64}, Line{"X(1,17,1,17,no-tw)", 32, 32}, Line{"X(1,12,1,12,no-tw)", 50, 64},
        Line{"X(1,5,1,5,no-tw)", 128, 64}, Line{"X(3,16,3,48,tw),X(16,3,1,3,no-tw)", 6, 32}})
    for (const std::string side : {"load", "store", "both"})
      for (const std::string with : {"", ",parts=apart", ",load=async,pipeline=2"})
        for (const std::string prec : {"", ",prec=f64,place=in"}) {
          const std::string text = "{" + line.subs + "}[threads=" + std::to_string(line.threads) + ",tile=1x" +
                                   std::to_string(line.lines) + ",exchange=shared" + with + ",coalesce=" + side +
                                   "]:order=natural" + prec;
          expect_right(text, -1, 2 * line.lines + 1);
          const FftPlan plan = parse_fft_plan(text);
          const PlannedProgram program = plan_passes(plan, small_options_of(plan, -1, 2 * line.lines + 1));
          const PassSpec& pass = program.passes.front().spec;
          if (side != "store") {
            EXPECT_EQ(addresses_of_a_warp(pass, pass.rounds.front(), pass.load.address), neighbours) << text;
          }
          if (side != "load") {
            EXPECT_EQ(addresses_of_a_warp(pass, pass.rounds.back(), pass.store.address), neighbours) << text;
          }
        }
}

// The same of real lines: rounds that only load or store move the half spectrum alone, and no imaginary parts of real
// values.
TEST(EmulatedFftParameters, CoalescedRoundsOfRealLinesMoveWhatTheArraysHold) {
  struct Line {
    std::int64_t n;
    int lines, threads;
  };
  for (const Line& line : {Line{8, 64, 64}, Line{17, 32, 32}, Line{12, 50, 64}, Line{5, 128, 64}})
    for (const FftType type : {FftType::r2c, FftType::c2r})
      for (const std::string side : {"load", "store", "both"})
        for (const std::string with : {"", ",parts=apart"})
          for (const std::string prec : {"", ",prec=f64,place=in"}) {
            const std::string text = fmt::format(
                "{{X(1,{0},1,{0},no-tw)}}[threads={1},tile=1x{2},exchange=shared{3},coalesce={4}]:order=natural{5}",
                line.n, line.threads, line.lines, with, side, prec);
            SCOPED_TRACE(text);
            const FftPlan plan = parse_fft_plan(text);
            EmitOptions o = small_options_of(plan, type == FftType::r2c ? -1 : 1, 2 * line.lines + 1);
            o.type = type;
            const auto program = emit_program(plan, o);
            EXPECT_LT(program_error(program, o, true), allowed(o));
            const PassSpec pass = plan_passes(plan, o).passes.front().spec;
            const bool loads = side != "store", stores = side != "load", real = type == FftType::r2c;
            const std::int64_t half = line.n / 2 + 1;
            EXPECT_EQ(pass.rounds.front().kept, loads && !real ? half : 0);
            EXPECT_EQ(pass.rounds.back().kept, stores && real ? half : 0);
            // Of the real side of the line, real parts alone are exchanged.
            const std::size_t exchange = real ? 0 : pass.rounds.size() - 2;
            if (real ? loads : stores) {
              EXPECT_STREQ(parts_behind(pass, exchange), "x");
            }
          }
}

TEST(EmulatedFftParameters, LandingBuffers) {
  for (const std::string load : {"async", "bulk"})
    for (const int depth : {1, 2, 3}) {
      const std::string with = "load=" + load + ",pipeline=" + std::to_string(depth);
      expect_right("{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4," + with + "]:order=natural", -1, 20,
                   [&](const generator::GpuProgram& program) {
                     EXPECT_EQ(program.launches[0].grid[0], 2u);  // the blocks are persistent
                   });
      expect_right("{X(4,8,4,32,tw),X(8,4,1,4,no-tw),Y(4,4,4,16,tw)}[threads=32,tile=1x1x1,to=work," + with +
                       "]{Y(4,4,1,4,no-tw),Z(2,8,2,16,tw),Z(8,2,1,2,no-tw)}[threads=32,tile=8x1x1,parts=apart,twiddle="
                       "computed," +
                       with + "]:order=natural",
                   1, 1);
    }
  // Mixed radices, partial tiles, and rounds in which some threads have no work: cp.async only.
  expect_right("{X(13,5,13,65,tw),X(5,13,1,13,no-tw)}[threads=32,tile=1x3,load=async,pipeline=2]:order=natural", -1, 7);
  expect_right(
      "{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,exchange=shuffle,load=async,pipeline=2]:order="
      "natural,prec=f64",
      -1, 21);
}

// Everything that modifies loads must work with asynchronous loads too.
TEST(EmulatedFftParameters, LandingBuffersCarryHooksAndRealArrays) {
  for (const FftType type : {FftType::c2c, FftType::r2c, FftType::c2r})
    for (const Load load : {Load::async, Load::bulk}) {
      SCOPED_TRACE(std::string(to_string(type)) + (load == Load::bulk ? " bulk" : " async"));
      EmitOptions o;
      o.n = {16, 12, 8};
      o.type = type;
      o.sign = type == FftType::c2r ? 1 : -1;
      o.scale = 2;
      o.hooks[0].input_factors.assign(static_cast<std::size_t>(type == FftType::c2r ? 9 : 16), 1.5);
      if (type == FftType::c2c && load == Load::async) {
        o.hooks[1].input = Pruning{Pruning::Kind::wrapped, {}, 12, 7, 1};
        for (int i = 0; i < 7; ++i) o.hooks[1].input_factors.push_back(1 + 0.25 * i);
      }
      if (type != FftType::c2c) o.hooks[0].input_factors.clear();
      FftPlan plan = plain_plan(o);
      for (Kernel& kernel : plan.kernels) kernel.with.load = load, kernel.with.pipeline = 2;
      o.device = small_device(64);
      if (load == Load::bulk && type != FftType::c2c) {
        EXPECT_THROW(emit_program(plan, o), Error);  // rows of 9 values, or real rows
        continue;
      }
      EXPECT_LT(program_error(emit_program(plan, o), o, true), allowed(o));
    }
}

std::string refusal(const std::string& text, std::int64_t batch = 1,
                    const std::function<void(EmitOptions&)>& change = {}) {
  try {
    const FftPlan plan = parse_fft_plan(text);
    EmitOptions o = small_options_of(plan, -1, batch);
    if (change) change(o);
    emit_program(plan, o);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(EmulatedFftParameters, WhatCannotBeEmittedIsRefusedByItsRule) {
  const auto has = [](const std::string& text, const char* word) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  };
  has(refusal("{X(6,10,6,60,tw),X(10,6,1,6,no-tw)}[threads=32,tile=1x8,exchange=shuffle]"), "rule exchange");
  has(refusal("{X(6,10,6,60,tw),X(10,6,1,6,no-tw)}[threads=32,tile=1x8,banks=swizzle]"), "rule banks");
  has(refusal("{X(1,16,1,16,no-tw)}[threads=32,tile=1x2,banks=plain]"), "rule banks");
  has(refusal("{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=32,tile=1x2,exchange=shuffle,parts=apart]"),
      "rule parts");
  has(refusal("{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=64,tile=1x2,exchange=shuffle]"), "rule exchange");
  has(refusal("{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=32,tile=1x4,load=bulk,pipeline=1,cluster=2]"),
      "rule cluster");
  has(refusal("{X(16,16,16,256,tw),X(16,16,1,16,no-tw)}[threads=96,tile=1x4,cluster=2]", 4), "rule cluster: {X");
  has(refusal("{X(4,4,4,16,tw),X(4,4,1,4,no-tw)}[threads=32,tile=1x64,cluster=2]", 64), "between two rounds");
  has(refusal("{X(6,10,6,60,tw),X(10,6,1,6,no-tw)}[threads=32,tile=1x32,cluster=4]", 32), "rule cluster: {X");
  // Neighbours that the end of no digit separates: x has 4, 5 and 4.
  has(refusal("{X(20,4,20,80,tw)}[threads=32,tile=4]{X(16,5,4,20,tw)}[threads=32,tile=2]{X(20,4,1,4,no-tw)}[threads=32,"
              "tile=2]:place=in"),
      "rule tile: kernel 3: a tile of 2 neighbours along x");
  has(refusal("{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4,load=bulk,pipeline=1]:order=natural", 5),
      "rule load");
  has(refusal("{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=32,tile=1x4,load=bulk,pipeline=1]:order=natural", 4,
              [](EmitOptions& o) {
                o.input = ArrayLayout{{1, 0, 0}, 65};
              }),
      "rule load");
}

// Plans drawn from everything that the rules allow, most of them useless in practice: each is right, or a rule of the
// emitter refuses it.
TEST(EmulatedFftParameters, RandomPlansAreRightOrRefusedByARule) {
  int ran = 0, refused = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const FftPlan plan = random_plan(random, {.dims = 3, .elements = 1 << 10});
    SCOPED_TRACE(to_text(plan));
    const EmitOptions o = small_options_of(plan, seed % 2 ? 1 : -1, 1 + static_cast<std::int64_t>(random() % 3));
    generator::GpuProgram program;
    try {
      program = emit_program(plan, o);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("rule ", 0), 0U) << error.what();
      ++refused;
      continue;
    }
    ++ran;
    const bool fast = std::any_of(plan.kernels.begin(), plan.kernels.end(),
                                  [](const Kernel& kernel) { return kernel.with.twiddle == TwiddleForm::fast; });
    EXPECT_LT(program_error(program, o, false, placing(plan)), fast ? 1e-5 : 2 * allowed(o));
  }
  EXPECT_GT(ran, 20);
  EXPECT_GT(refused, 0);
}

TEST(EmulatedFftParameters, OneLandingBufferNeedsNoSlots) {
  for (const char* load : {"async", "bulk"})
    for (const int depth : {1, 2}) {
      const std::string plan = std::string("{X(8,8,8,64,tw),X(8,8,1,8,no-tw)}[threads=64,tile=1x8,load=") + load +
                               ",pipeline=" + std::to_string(depth) + "]:order=natural";
      const FftPlan parsed = parse_fft_plan(plan);
      const auto program = emit_program(parsed, small_options_of(parsed));
      EXPECT_EQ(program.kernels.front().text.find("slot = ") != std::string::npos, depth > 1) << plan;
    }
}

}  // namespace
}  // namespace fourtune::test
