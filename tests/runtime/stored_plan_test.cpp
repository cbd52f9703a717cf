// A plan from a database that can be parsed but does not run: the transform tries the next one and says so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "db/tuning_store.h"
#include "fourtune/transform.h"
#include "generator/candidates.h"
#include "runtime/backend_table.h"
#include "runtime/backends/backend.h"
#include "runtime/environment.h"
#include "runtime/validity.h"
#include "tests/support/stored_winner.h"

namespace fourtune::runtime {
namespace {

// Refuses to bind what it is told to refuse, and records what it bound.
class PickyBackend : public Backend {
 public:
  std::function<void(const generator::Plan&)> bind_check = [](const generator::Plan&) {};
  std::function<void(const generator::Plan&)> points_check = [](const generator::Plan&) {};
  mutable std::vector<int> asked;  // the tile caps of the plans, in order of arrival

  std::string_view name() const override { return "picky"; }
  DeviceTraits traits_of(int) const override {
    DeviceTraits traits;
    traits.backend = "picky";
    traits.cores = 2;
    return traits;
  }
  std::unique_ptr<Executor> bind(const Problem&, const generator::Plan& plan, const ExecutorOptions&) const override {
    asked.push_back(plan.cpu().spread.cap);
    bind_check(plan);
    return std::make_unique<Nothing>(*this, plan);
  }

 private:
  class Nothing : public Executor {
   public:
    Nothing(const PickyBackend& backend, const generator::Plan& plan) : backend_(backend), plan_(plan) {}
    void set_points(const PointSet&) override { backend_.points_check(plan_); }
    void execute(void*, void*, bool) override {}
    MemoryUse memory() const override { return {}; }
    std::span<const StageTime> stage_times() const override { return {}; }
    const generator::Plan& plan() const override { return plan_; }

   private:
    const PickyBackend& backend_;
    generator::Plan plan_;
  };
};

PickyBackend& picky() {
  static PickyBackend* const backend = [] {
    auto* made = new PickyBackend;
    add_backend(*made);
    return made;
  }();
  return *backend;
}

const char* const kAskedFor = "nufft:type=1,n=64x64,m=5000,prec=f64,tol=1e-6";
const char* const kNeighbour = "nufft:type=1,n=64x60,m=5000,prec=f64,tol=1e-6";
constexpr int kStored = 777, kBeside = 555;

class StoredPlan : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    picky().bind_check = picky().points_check = [](const generator::Plan&) {};
    picky().asked.clear();
    store(kNeighbour, kBeside);
    store(kAskedFor, kStored);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void store(const char* token, int cap) {
    const Problem problem = parse_problem(token);
    generator::Plan plan = default_plan(problem);
    plan.cpu().spread.cap = cap;
    auto store = db::TuningStore::open_for_writing(path_, 1000, db::Journal::rollback);
    test::store_winner(store, environment_here(picky().traits()),
                       test::right_run(token, generator::to_text(plan, problem)), validity_of(problem));
  }
  static generator::Plan default_plan(const Problem& problem) {
    generator::Plan plan = generator::default_plan(problem, picky().traits());
    plan.backend = "picky";
    return plan;
  }
  Options options() const {
    Options options;
    options.default_databases = false;
    options.databases = {path_};
    options.backend = "picky";
    return options;
  }
  static std::function<void(const generator::Plan&)> refuses(std::vector<int> caps, std::function<void()> how) {
    return [caps = std::move(caps), how = std::move(how)](const generator::Plan& plan) {
      if (std::find(caps.begin(), caps.end(), plan.cpu().spread.cap) != caps.end()) how();
    };
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("fourtune-stored-" + std::to_string(getpid()) + "-" +
                                                testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::filesystem::path path_ = folder_ / "pack.db";
};

void out_of_memory() { throw Error(Status::out_of_memory, "no memory for fine grids"); }
void does_not_compile() { throw CompileError("kernel spread does not compile", false); }
void bad_alloc() { throw std::bad_alloc(); }

TEST_F(StoredPlan, IsBoundFirst) {
  const Transform transform(kAskedFor, options());
  EXPECT_EQ(picky().asked, std::vector<int>{kStored});
  EXPECT_NE(transform.explain().find("why: verdict"), std::string::npos) << transform.explain();
}

TEST_F(StoredPlan, ThatDoesNotBindGivesWayToTheNearestOne) {
  const std::map<std::string, void (*)()> ways{{"no memory for fine grids", out_of_memory},
                                               {"kernel spread does not compile", does_not_compile},
                                               {"not enough memory", bad_alloc}};
  for (const auto& [said, way] : ways) {
    picky().asked.clear();
    picky().bind_check = refuses({kStored}, way);
    const Transform transform(kAskedFor, options());
    EXPECT_EQ(picky().asked, (std::vector<int>{kStored, kBeside}));
    EXPECT_NE(transform.explain().find("why: nearest"), std::string::npos) << transform.explain();
    EXPECT_NE(transform.explain().find("it does not run here: " + said), std::string::npos) << transform.explain();
  }
}

TEST_F(StoredPlan, ThatDoesNotBindGivesWayToTheModelInTheEnd) {
  picky().bind_check = refuses({kStored, kBeside}, out_of_memory);
  const Transform transform(kAskedFor, options());
  EXPECT_EQ(picky().asked.size(), 3u);
  EXPECT_NE(transform.explain().find("why: model"), std::string::npos) << transform.explain();
}

TEST_F(StoredPlan, ThatFailsWithItsPointsGivesWayToo) {
  picky().points_check = refuses({kStored}, does_not_compile);
  Transform transform("nufft:type=1,n=64x64,prec=f64,tol=1e-6", options());
  const std::vector<double> x(5000, 0.5);
  for (int again = 0; again < 2; ++again) transform.set_points({5000, x.data(), x.data()});
  EXPECT_EQ(picky().asked, (std::vector<int>{kStored, kBeside})) << "and is not tried again";
  EXPECT_NE(transform.explain().find("kernel spread does not compile"), std::string::npos) << transform.explain();
}

TEST_F(StoredPlan, IsNotBlamedForTheCallersPoints) {
  picky().points_check = refuses({kStored}, [] { throw Error(Status::invalid_point, "x[3] is NaN"); });
  Transform transform(kAskedFor, options());
  const std::vector<double> x(5000, 0.5);
  EXPECT_THROW(transform.set_points({5000, x.data(), x.data()}), Error);
  EXPECT_EQ(picky().asked, std::vector<int>{kStored});
}

TEST_F(StoredPlan, AForcedPlanThatDoesNotBindIsTheCallersError) {
  const Problem problem = parse_problem(kAskedFor);
  generator::Plan plan = default_plan(problem);
  plan.cpu().spread.cap = kStored;
  picky().bind_check = refuses({kStored}, out_of_memory);
  Options forced = options();
  forced.plan = generator::to_text(plan, problem);
  EXPECT_THROW(Transform(kAskedFor, forced), Error);
  EXPECT_EQ(picky().asked, std::vector<int>{kStored});
}

TEST_F(StoredPlan, TheModelsPlanThatDoesNotBindIsAnErrorToo) {
  picky().bind_check = [](const generator::Plan&) { out_of_memory(); };
  try {
    const Transform transform(kAskedFor, options());
    ADD_FAILURE() << "was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::out_of_memory);
  }
}

}  // namespace
}  // namespace fourtune::runtime
