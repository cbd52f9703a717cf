// Sessions on a device with sensors: clocks that are held down, and energy as the objective.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "db/pack_edit.h"
#include "runtime/environment.h"
#include "tests/support/program.h"
#include "tests/tuner/fake_backend.h"
#include "tuner/measure/evaluate.h"
#include "tuner/report/html.h"
#include "tuner/report/report.h"

namespace fourtune::tuner {
namespace {

constexpr const char* kMeasured = "fft:type=c2c,n=8,prec=f64";
std::string text(int block) { return testing::fake_text(parse_problem(kMeasured), block); }

// What all executors have used and what its sensors say.
struct Device {
  double joules = 3;
  std::function<bool()> slowed = [] { return false; };
  bool has_counter = true;
};

// Block 33 uses the least energy, 1 mJ per execute; block 40 is the fastest.
class MeteredExecutor final : public testing::FakeExecutor {
 public:
  MeteredExecutor(const Problem& problem, const generator::Plan& plan, Device& device)
      : FakeExecutor(problem, plan), device_(device), joules_(1e-3 * (1 + 0.2 * std::abs(plan.cpu().fft.block - 33))) {}
  void execute(void* first, void* second, bool adjoint) override {
    FakeExecutor::execute(first, second, adjoint);
    device_.joules += joules_;
  }

 private:
  Device& device_;
  double joules_;
};

class MeteredBackend final : public testing::FakeBackend {
 public:
  explicit MeteredBackend(Device& device) : device_(device) {}
  std::unique_ptr<runtime::Executor> bind(const Problem& problem, const generator::Plan& plan,
                                          const runtime::ExecutorOptions&) const override {
    return std::make_unique<MeteredExecutor>(problem, plan, device_);
  }
  std::unique_ptr<runtime::DeviceSensors> sensors(int) const override {
    struct Sensors final : runtime::DeviceSensors {
      explicit Sensors(Device& its) : device(its) {}
      runtime::DeviceState read() override {
        runtime::DeviceState state;
        state.clock_mhz = 1500, state.celsius = 61;
        state.limits = {"power"};
        if (device.slowed()) state.limits.emplace_back("heat");
        return state;
      }
      std::optional<double> joules() override {
        return device.has_counter ? std::optional(device.joules) : std::nullopt;
      }
      Device& device;
    };
    return std::make_unique<Sensors>(device_);
  }

 private:
  Device& device_;
};

// Measures energies for a short time, and times on the thread's clock, which other load does not disturb. A session
// does not take that clock together with energies, because a device's sensors know nothing of threads; this device's
// do.
class QuickEvaluator final : public Evaluator {
 public:
  explicit QuickEvaluator(const runtime::Backend& backend) : local_(backend) {}
  DeviceTraits traits() override { return local_.traits(); }
  Spent load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>& plans) override {
    return local_.load(problem, seed, plans);
  }
  Evaluation evaluate(const EvaluationRequest& request) override {
    EvaluationRequest quick = request;
    quick.benchmark.energy_seconds = 0.01, quick.benchmark.cpu_time = true;
    return local_.evaluate(quick);
  }
  FinalsResult finals(const FinalsRequest& request) override {
    FinalsRequest quick = request;
    quick.benchmark.energy_seconds = 0.01, quick.benchmark.cpu_time = true, quick.seconds = 0.2;
    return local_.finals(quick);
  }

 private:
  LocalEvaluator local_;
};

class Sensors : public ::testing::Test {
 protected:
  db::TuningStore open() const { return db::TuningStore::open_for_writing(folder_ / "tuning.db"); }
  db::Environment here() const { return runtime::environment_here(backend_.traits()); }
  Report tune(db::TuningStore& store, db::Objective objective, int first = 31, int last = 40) {
    QuickEvaluator evaluator(backend_);
    auto options = testing::fake_session({kMeasured}, first, last);
    options.objective = objective;
    options.cpu_time = false;  // the evaluator sees to that
    return run_session(options, store, evaluator);
  }
  const test::ScratchFolder folder_;
  Device device_;
  const MeteredBackend backend_{device_};
};

TEST_F(Sensors, EnergyAsTheObjectiveFindsAnotherPlanThanTime) {
  auto store = open();
  const ProblemReport p = tune(store, db::Objective::energy).problems.at(0);
  EXPECT_EQ(p.winner, text(33)) << p.note;
  ASSERT_TRUE(p.joules && p.untuned_joules);
  EXPECT_NEAR(*p.joules, 1e-3, 1e-5);
  EXPECT_NEAR(*p.untuned_joules, 1.6e-3, 1e-5);  // block 30
  EXPECT_NEAR(p.gain, 1.6, 0.02);
  EXPECT_GT(p.gain_low, 1.5);
  const auto winner = store.winner(kMeasured, here());
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->objective, db::Objective::energy);
  EXPECT_NEAR(winner->ratio_low, 1.6, 0.05);
  EXPECT_GT(winner->winner_ns, 50'000) << "its time is a time";
  for (const auto& plan : store.history(kMeasured, here())) {
    ASSERT_TRUE(plan.joules.has_value()) << plan.plan;
    EXPECT_GT(*plan.joules, 0.99e-3);
  }
  const auto rows = show_rows(store, {});
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].objective, db::Objective::energy);
  EXPECT_NE(format_rows(rows, Format::table).find("by energy: 1 mJ"), std::string::npos)
      << format_rows(rows, Format::table);
  // What is shipped says so too, and of the winner alone.
  const auto shipped = db::from_database(store, {{}, 1, {}}).plans;
  ASSERT_EQ(shipped.size(), 2u);
  EXPECT_EQ(shipped[0].verdict.objective, db::Objective::energy);
  EXPECT_EQ(shipped[1].verdict.objective, db::Objective::time);
}

TEST_F(Sensors, ASessionByEnergyMeasuresAgainWhatHasOnlyATime) {
  auto store = open();
  const ProblemReport by_time = tune(store, db::Objective::time).problems.at(0);
  EXPECT_FALSE(by_time.joules);
  const ProblemReport by_energy = tune(store, db::Objective::energy).problems.at(0);
  EXPECT_EQ(by_energy.reused, 0u);
  EXPECT_EQ(by_energy.winner, text(33));
  EXPECT_GE(tune(store, db::Objective::energy).problems.at(0).reused, 10u);
}

TEST_F(Sensors, ADeviceWithoutAMeterFailsEveryPlanByName) {
  device_.has_counter = false;
  auto store = open();
  const ProblemReport p = tune(store, db::Objective::energy, 32, 33).problems.at(0);
  EXPECT_TRUE(p.winner.empty());
  EXPECT_NE(p.note.find("the device told no energy"), std::string::npos) << p.note;
  EXPECT_FALSE(store.winner(kMeasured, here()));
}

TEST_F(Sensors, EachRunKeepsTheDevicesStateAndTheReportShowsIt) {
  auto store = open();
  tune(store, db::Objective::time, 38, 40);
  std::size_t right = 0;
  for (const db::StoredRun& run : store.runs(kMeasured))
    if (run.status == db::RunStatus::ok && ++right > 0) {
      EXPECT_EQ(run.state, R"({"clock_mhz":1500,"celsius":61,"limits":["power"]})") << run.plan;
    }
  EXPECT_GE(right, 3u);
  EXPECT_EQ(show_rows(store, {}).at(0).state, R"({"clock_mhz":1500,"celsius":61,"limits":["power"]})");
  const std::string page = html_report(stories_of(store), "own.db");
  EXPECT_NE(page.find("1500 MHz, 61 C, limited by power"), std::string::npos);
}

TEST_F(Sensors, SamplesAtHeldClocksAreTakenAgainAFewTimes) {
  LocalEvaluator evaluator(backend_);
  evaluator.load(parse_problem(kMeasured), 1);
  EvaluationRequest request;
  request.plan = text(40);
  request.benchmark.max_samples = 3;
  request.benchmark.cpu_time = true;
  int reads = 0;
  device_.slowed = [&] { return ++reads <= 2; };
  const Evaluation cooled = evaluator.evaluate(request);
  EXPECT_EQ(cooled.repeats, 2);
  EXPECT_FALSE(cooled.slowed);
  EXPECT_EQ(cooled.state.find("heat"), std::string::npos) << "the state is that of the samples that were kept";
  device_.slowed = [] { return true; };
  for (const int repeats : {3, 3, 3, 0, 0}) {  // it is always so
    const Evaluation hot = evaluator.evaluate(request);
    EXPECT_EQ(hot.repeats, repeats);
    EXPECT_TRUE(hot.slowed);
    EXPECT_EQ(hot.status, db::RunStatus::ok);
    EXPECT_NE(hot.state.find("heat"), std::string::npos);
  }
  device_.slowed = [] { return false; };
  EXPECT_EQ(evaluator.evaluate(request).repeats, 0);
  device_.slowed = [] { return true; };
  EXPECT_EQ(evaluator.evaluate(request).repeats, 3) << "it was cool in between";
}

TEST_F(Sensors, FinalsLeaveOutRoundsAtHeldClocksButNotForEver) {
  LocalEvaluator evaluator(backend_);
  evaluator.load(parse_problem(kMeasured), 1);
  FinalsRequest request;
  request.plans = {text(40), text(33)};
  request.max_rounds = 8;
  request.seconds = 60;  // rounds end it, not time
  request.benchmark.cpu_time = true;
  int asked = 0;
  device_.slowed = [&] { return ++asked % 2 == 1 && asked < 9; };
  const FinalsResult cooled = evaluator.finals(request);
  EXPECT_EQ(cooled.repeats, 4);
  EXPECT_FALSE(cooled.slowed);
  EXPECT_EQ(cooled.samples_ns[0].size(), 8u);
  device_.slowed = [] { return true; };
  const FinalsResult hot = evaluator.finals(request);
  EXPECT_EQ(hot.repeats, 6);
  EXPECT_TRUE(hot.slowed);
  EXPECT_EQ(hot.samples_ns[0].size(), 8u);
  EXPECT_NE(hot.state.find("heat"), std::string::npos);
}

TEST_F(Sensors, EnergyDoesNotGoWithCpuTimeOrRecordings) {
  auto store = open();
  LocalEvaluator evaluator(backend_);
  auto options = testing::fake_session({kMeasured}, 31, 32);
  options.objective = db::Objective::energy;
  options.cpu_time = false;
  options.record_folder = folder_ / "spaces";
  EXPECT_THROW(run_session(options, store, evaluator), Error);
  options.record_folder.clear();
  options.cpu_time = true;
  EXPECT_THROW(run_session(options, store, evaluator), Error);
}

}  // namespace
}  // namespace fourtune::tuner
