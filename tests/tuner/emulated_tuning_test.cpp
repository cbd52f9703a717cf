// Tunes a uniform transform on the emulated GPU, from the problem to a plan that an application runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "db/lookup.h"
#include "fourtune/transform.h"
#include "runtime/backend_table.h"
#include "runtime/backends/emulated/emulated_backend.h"
#include "runtime/environment.h"
#include "runtime/resolve.h"
#include "tests/support/program.h"
#include "tuner/measure/device_arrays.h"
#include "tuner/measure/evaluate.h"
#include "tuner/measure/validate.h"
#include "tuner/session/session.h"

namespace fourtune::tuner {
namespace {

using runtime::emulated::EmulatedBackend;

constexpr const char* kToken = "fft:type=c2c,n=8x4,prec=f32";

// Reports kernels, as a GPU does, so that their handling is tested; records the plans that it was asked to prepare.
class Watched final : public runtime::Backend {
 public:
  std::string_view name() const override { return "emulated"; }
  runtime::Capabilities capabilities() const override { return inner_.capabilities(); }
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions& options) const override {
    if (spills(plan)) return std::make_unique<Large>(inner_.bind(problem, plan, options));
    return inner_.bind(problem, plan, options);
  }
  std::vector<runtime::KernelJob> missing_kernels(const Problem& problem, const generator::Plan& plan,
                                                  const runtime::ExecutorOptions&) const override {
    const std::lock_guard lock(mutex_);
    prepared_.push_back(generator::to_text(plan, problem));
    signs_.insert(problem.sign);
    return {{prepared_.back(), "f1", broken(plan) ? "broken" : "right", 0, "sm_90", 1}};
  }
  runtime::KernelImage compile_kernel(const runtime::KernelJob& job, double) const override {
    if (job.text == "broken") throw runtime::CompileError("kernel f1 does not compile: this test says so", false);
    return {};
  }
  std::set<int> signs() const {
    const std::lock_guard lock(mutex_);
    return signs_;
  }
  std::vector<std::string> prepared() const {
    const std::lock_guard lock(mutex_);
    return prepared_;
  }
  static bool spills(const generator::Plan& plan) { return has_threads(plan, 64); }
  static bool broken(const generator::Plan& plan) { return has_threads(plan, 96); }

 protected:
  DeviceTraits traits_of(int device) const override { return inner_.traits(device); }

 private:
  static bool has_threads(const generator::Plan& plan, int threads) {
    const auto& kernels = plan.gpu().fft.plan.kernels;
    return std::any_of(kernels.begin(), kernels.end(), [&](const auto& k) { return k.with.threads == threads; });
  }
  class Large final : public runtime::Executor {
   public:
    explicit Large(std::unique_ptr<runtime::Executor> inner) : inner_(std::move(inner)) {}
    void set_points(const runtime::PointSet&) override {}
    void execute(void*, void*, bool) override { FAIL() << "a kernel that spills so much is not launched"; }
    MemoryUse memory() const override { return inner_->memory(); }
    std::span<const StageTime> stage_times() const override { return inner_->stage_times(); }
    const generator::Plan& plan() const override { return inner_->plan(); }
    std::vector<runtime::KernelReport> kernels() const override { return {{"f1", 255, 4000, 0, 1, true}}; }

   private:
    std::unique_ptr<runtime::Executor> inner_;
  };

  EmulatedBackend inner_{runtime::gpu::generated_programs()};
  mutable std::mutex mutex_;
  mutable std::vector<std::string> prepared_;
  mutable std::set<int> signs_;
};

TEST(EmulatedTuning, FindsAPlanThatAnApplicationRuns) {
  static const Watched backend;
  runtime::add_backend(backend);
  const test::ScratchFolder folder;
  const auto path = folder / "tuning.db";
  const Problem problem = parse_problem(kToken);
  std::string winner;
  {
    auto store = db::TuningStore::open_for_writing(path);
    LocalEvaluator evaluator(backend);
    SessionOptions options;
    options.problems = {problem};
    options.seconds = 0;
    options.max_evaluations = 14;
    options.strategy = "random";
    const Report report = run_session(options, store, evaluator);
    ASSERT_EQ(report.problems.size(), 1u);
    const ProblemReport& found = report.problems[0];
    EXPECT_EQ(found.untuned, "emulated;fft=plain");
    EXPECT_TRUE(found.new_verdict) << found.note;
    ASSERT_FALSE(found.winner.empty());
    ASSERT_TRUE(found.error);
    EXPECT_LT(*found.error, allowed_error(problem));
    EXPECT_GT(found.candidates, 30u);
    winner = found.winner;

    // Every measurement has a row. A plan that cannot run has one too, and was not launched.
    int ok = 0;
    for (const db::StoredRun& run : store.runs(kToken)) {
      const generator::Plan plan = generator::parse_plan(run.plan, problem);
      ok += run.status == db::RunStatus::ok;
      if (Watched::broken(plan)) {
        EXPECT_EQ(run.status, db::RunStatus::compile_error) << run.plan;
      } else if (Watched::spills(plan)) {
        EXPECT_EQ(run.status, db::RunStatus::too_many_resources) << run.plan;
        EXPECT_EQ(nlohmann::json::parse(run.kernels)[0]["spill_bytes"], 4000);
      } else {
        EXPECT_EQ(run.status, db::RunStatus::ok) << run.plan << ": " << run.message;
      }
    }
    EXPECT_GE(ok, 2);
    EXPECT_GE(backend.prepared().size(), 10u);
    EXPECT_EQ(backend.signs(), (std::set<int>{-1, 1})) << "adjoints are compiled ahead, too";
  }

  // The plan is looked up again: by resolve, and by an application.
  const db::Lookup lookup = db::Lookup::load(path);
  const runtime::Resolution resolved = runtime::resolve(problem, backend.traits(), &lookup, "");
  EXPECT_EQ(resolved.source, runtime::Source::verdict) << resolved.explain;
  EXPECT_EQ(generator::to_text(resolved.plan, problem), winner);
  Options options;
  options.backend = "emulated";
  options.default_databases = false;
  options.databases = {path.string()};
  Transform transform(kToken, options);
  EXPECT_EQ(transform.plan(), winner);
  EXPECT_NE(transform.explain().find("verdict"), std::string::npos);
  std::vector<std::complex<float>> in(32), out(32);
  in[1] = 1;  // the transform of this is exp(-2 pi i k_x / 8)
  transform.execute(in.data(), out.data());
  for (int k = 0; k < 32; ++k)
    EXPECT_LT(std::abs(out[static_cast<std::size_t>(k)] - std::polar(1.0f, -static_cast<float>(M_PI / 4) * (k % 8))),
              1e-6)
        << k;

  // Another batch uses the same plan, adapted; other lengths use none of it.
  const Problem batched = parse_problem("fft:type=c2c,n=8x4,prec=f32,batch=2");
  EXPECT_NE(runtime::resolve(batched, backend.traits(), &lookup, "").source, runtime::Source::model);
  const Problem longer = parse_problem("fft:type=c2c,n=16x4,prec=f32");
  const runtime::Resolution other = runtime::resolve(longer, backend.traits(), &lookup, "");
  EXPECT_NO_THROW(generator::parse_plan(generator::to_text(other.plan, longer), longer));
}

TEST(DeviceData, IsValidatedOnCopiesAndTheWholeResultIsCompared) {
  const EmulatedBackend backend(runtime::gpu::generated_programs());
  for (const char* token : {"fft:type=c2c,n=6x5,prec=f64", "fft:type=c2c,n=12,prec=f32,batch=2,place=in",
                            "fft:type=r2c,n=8x3,prec=f32,place=in", "fft:type=c2r,n=10x3,prec=f64,place=in",
                            "fft:type=c2c,n=6x5,prec=f64,layout=2x20+140/1x7+40"}) {
    SCOPED_TRACE(token);
    const Problem problem = parse_problem(token);
    ProblemData data(problem, 3);
    data.use(backend.memory(0), 3);
    EXPECT_EQ(data.sets(), 3);
    EXPECT_EQ(data.first(1) == data.second(1), problem.place == Place::in);
    const auto executor = backend.bind(problem, generator::default_plan(problem, backend.traits()), {});
    for (int again = 0; again < 2; ++again) {
      const Validation validation = data.validate(*executor);
      EXPECT_TRUE(validation.right) << validation.message;
    }
    // Every set contains the input.
    executor->execute(data.first(2), data.second(2), false);
    data.restore_input();

    // One element that is not sampled is wrong.
    class Spoilt final : public runtime::Executor {
     public:
      Spoilt(runtime::Executor& inner, std::size_t at) : inner_(inner), at_(at) {}
      void set_points(const runtime::PointSet&) override {}
      void execute(void* first, void* second, bool adjoint) override {
        inner_.execute(first, second, adjoint);
        static_cast<unsigned char*>(second)[at_] ^= 0x40;  // the exponent of the first number
      }
      MemoryUse memory() const override { return inner_.memory(); }
      std::span<const StageTime> stage_times() const override { return inner_.stage_times(); }
      const generator::Plan& plan() const override { return inner_.plan(); }

     private:
      runtime::Executor& inner_;
      std::size_t at_;
    } spoilt(*executor, problem.precision == Precision::f32 ? 3 : 7);
    EXPECT_FALSE(data.validate(spoilt).right);
    EXPECT_FALSE(data.validate(spoilt, Look::pieces).right);
    EXPECT_TRUE(data.validate(*executor, Look::pieces).right);
  }
}

TEST(DeviceData, PiecesAreSpreadOverAllOfTheArray) {
  for (const std::size_t bytes :
       {std::size_t{16}, std::size_t{480}, std::size_t{1} << 20, (std::size_t{1} << 31) + 48}) {
    const std::vector<Piece> pieces = pieces_of(bytes);
    EXPECT_EQ(pieces.front().first, 0u);
    EXPECT_EQ(pieces.back().first + pieces.back().bytes, bytes);
    std::size_t end = 0, sum = 0, widest = 0;
    for (const Piece& piece : pieces) {
      EXPECT_GT(piece.bytes, 0u);
      EXPECT_EQ(piece.first % 16, 0u);
      EXPECT_GE(piece.first + 64, end);  // only the last piece may overlap the one before
      widest = std::max(widest, piece.first - std::min(end, piece.first));
      end = piece.first + piece.bytes, sum += piece.bytes;
    }
    EXPECT_LE(sum, (std::size_t{4} << 20) + 64);
    EXPECT_GE(sum * 1024, std::min<std::size_t>(bytes, std::size_t{1} << 30) / 2);
    EXPECT_LE(widest, 2 * (bytes / 256 + 128));
  }
}

}  // namespace
}  // namespace fourtune::tuner
