// Small tuned databases, and `fourtune pack` run on them as a user does.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/pack.h"
#include "db/pack_writer.h"
#include "db/tuning_store.h"
#include "runtime/environment.h"
#include "tests/support/command.h"
#include "tests/support/program.h"

namespace fourtune::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

inline constexpr const char* kFft = "fft:type=c2c,n=20x12,prec=f64";
inline constexpr const char* kNufft = "nufft:type=1,n=32x32,m=1000,prec=f32,tol=1e-3";
inline constexpr const char* kFast = "cpu;threads=1;fft=fftw(rigor=patient)";
inline constexpr const char* kSlow = "cpu;threads=1;fft=fftw(rigor=estimate)";
inline constexpr const char* kGridder = "cpu;threads=1;window=pswf(width=4)";

struct Tuned {
  std::string problem, plan;
  std::int64_t ns = 1000;
  double gain = 1.5;
  std::string runner_up{};  // takes twice the time
  db::Objective objective = db::Objective::time;
};

class PackCommand : public testing::Test {
 protected:
  Finished run(const Words& words) {
    Words all{fourtune_program(), "pack"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, folder.path(), {{"FOURTUNE_DB", (folder / "own.db").string()}, {"CC", compiler}});
  }
  std::string done(const Words& words) {
    const Finished result = run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  Json json(Words words) {
    words.insert(words.end(), {"--format", "json"});
    return Json::parse(done(words), nullptr, false);
  }
  // One line of error with the reason, perhaps a hint, and nothing else.
  void expect_refused(const Words& words, const std::string& reason, int code) {
    expect_refusal(run(words), reason, code);
  }
  static db::Environment environment(const std::string& device = {}) {
    db::Environment here = runtime::environment_here(cpu_traits());
    if (!device.empty()) here.device = device;
    return here;
  }
  void database(const std::string& name, const std::vector<Tuned>& all,
                const db::Environment& where = environment()) const {
    auto store = db::TuningStore::open_for_writing(folder / name, 1000, db::Journal::rollback);
    db::SessionStart start;
    start.environment = where;
    const auto session = store.begin_session(start);
    for (const Tuned& one : all) {
      for (const std::string& plan : {one.plan, one.runner_up}) {
        if (plan.empty()) continue;
        db::Run run;
        run.problem = one.problem, run.plan = plan, run.error = 1e-9;
        run.samples_ns = {plan == one.plan ? one.ns : 2 * one.ns};
        store.record_run(session, run);
      }
      db::Verdict verdict;
      verdict.problem = one.problem, verdict.plan = one.plan, verdict.winner_ns = static_cast<double>(one.ns);
      verdict.incumbent_ns = verdict.winner_ns * one.gain, verdict.rounds = 9;
      verdict.objective = one.objective;
      verdict.ratio_low = one.gain * 0.99, verdict.ratio_high = one.gain * 1.01;
      store.record_verdict(session, verdict);
    }
    store.finish_session(session, db::SessionEnd::complete);
  }
  void sql(const std::string& file, const std::string& statement) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open((folder / file).c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << statement;
    sqlite3_close(connection);
  }
  db::PackContents contents(const std::string& file) const {
    std::size_t damaged = 0;
    return db::Pack::open(folder / file)->contents(damaged);
  }
  void write(const std::string& file, const db::PackContents& contents) const {
    db::write_file(folder / file, db::pack_bytes(contents));
  }
  // A pack of this many plans; a database would take a write to the disk for each.
  void many(const std::string& file, int count) const {
    db::PackContents all = contents("a.pack");
    db::PackPlan plan = all.plans.at(0);
    all.plans.clear();
    for (int n = 0; n < count; ++n) {
      plan.verdict.problem = "fft:type=c2c,n=" + std::to_string(8 + n) + ",prec=f64";
      all.plans.push_back(plan);
    }
    write(file, all);
  }
  std::string text(const std::string& file) const { return read_text(folder / file); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      names.push_back(fs::relative(entry.path(), folder.path()).generic_string());
    std::sort(names.begin(), names.end());
    return names;
  }
  // own.db and a.pack
  void make_a() {
    database("own.db", {{kFft, kFast, 1000, 1.5, kSlow}, {kNufft, kGridder, 5000, 1.2, {}}});
    done({"build", "a.pack", "--licence", "CC0"});
  }

  ScratchFolder folder;
  std::string compiler = "cc";
};

}  // namespace fourtune::test
