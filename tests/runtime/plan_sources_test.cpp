// Where transforms find plans: which file goes first, what the process reads once, and whose kernels may run.
#include "runtime/plan_sources.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/pack.h"
#include "db/pack_writer.h"
#include "db/signature.h"
#include "db/tuning_store.h"
#include "fourtune/fourtune.h"
#include "generator/candidates.h"
#include "runtime/backends/families.h"
#include "runtime/environment.h"
#include "runtime/neighbour.h"
#include "runtime/validity.h"
#include "tests/support/stored_winner.h"

namespace fourtune::runtime {
namespace {

namespace fs = std::filesystem;

const char* const kSmall2d = "nufft:type=1,n=32x32,m=5000,prec=f32,tol=1e-3";

// Sets an environment variable while it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class PlanSources : public testing::Test {
 protected:
  PlanSources() {
    std::string name = (fs::temp_directory_path() / "fourtune-sources-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    fs::permissions(folder_, fs::perms(0755));
    user_.emplace("FOURTUNE_DB", (folder_ / "user.db").string());
    config_.emplace("XDG_CONFIG_HOME", (folder_ / "config").string());
    fs::create_directories(folder_ / "config" / "fourtune" / "keys");
  }
  ~PlanSources() override { fs::remove_all(folder_); }

  // Until a file's time tells that it has not changed since.
  static void wait_for_the_clock() { std::this_thread::sleep_for(std::chrono::milliseconds(80)); }

  // A plan that is recognised by its cap.
  std::string plan(std::int64_t cap) const {
    const Problem problem = parse_problem(kSmall2d);
    generator::Plan plan = generator::default_plan(problem, traits_);
    plan.cpu().spread.cap = cap;
    return generator::to_text(plan, problem);
  }
  db::PackContents contents(std::int64_t cap) const {
    const Problem problem = parse_problem(kSmall2d);
    db::PackPlan one;
    one.verdict.problem = to_token(problem);
    one.verdict.plan = plan(cap);
    one.verdict.validity = validity_of(problem);
    one.verdict.winner_ns = 1000;
    one.environment = environment_here(traits_);
    const Neighbourhood near = neighbourhood_of(problem);
    one.kin = near.kin, one.size = near.size;
    db::PackContents all;
    all.manifest = {"made", "1.0", "", "test", one.environment.generator, {}};
    all.plans = {one};
    return all;
  }
  fs::path pack(const std::string& name, std::int64_t cap) const {
    fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    db::write_file(path, db::pack_bytes(contents(cap)));
    return path;
  }
  void tune_by_the_user(std::int64_t cap) const {
    auto store = db::TuningStore::open_for_writing(folder_ / "user.db");
    const Problem problem = parse_problem(kSmall2d);
    test::store_winner(store, environment_here(traits_), test::right_run(to_token(problem), plan(cap)),
                       validity_of(problem));
  }
  // The cap of the plan that a transform with these options runs; 0: that of the model.
  static std::int64_t cap_of(const Options& options, const char* token = kSmall2d) {
    const Transform transform(token, options);
    const std::string& text = transform.plan();
    const auto at = text.find("cap=");
    const std::int64_t cap = at == text.npos ? 0 : std::stoll(text.substr(at + 4));
    return cap >= 700 && cap < 800 ? cap : 0;
  }

  DeviceTraits traits_ = cpu_traits();
  fs::path folder_;
  std::optional<Variable> user_, config_;
};

TEST_F(PlanSources, TheUserGoesFirstThenMemoryThenPathsThenTheEnvironmentsPacks) {
  const std::string in_folder = (folder_ / "packs").string(), single = pack("single.pack", 701).string();
  pack("packs/b.pack", 703), pack("packs/a.pack", 702), pack("packs/c.other", 799);
  Options options;
  EXPECT_EQ(cap_of(options), 0);
  const Variable packs("FOURTUNE_PACKS", "::" + in_folder + ":" + single);
  EXPECT_EQ(cap_of(options), 702) << "the first entry goes first, and of a folder the first name";
  {
    const Variable turned("FOURTUNE_PACKS", single + ":" + in_folder);
    EXPECT_EQ(cap_of(options), 701);
  }
  options.databases = {pack("x.pack", 710), pack("y.pack", 711)};
  EXPECT_EQ(cap_of(options), 711) << "of the options the last one goes first";
  const auto first = db::pack_bytes(contents(720)), second = db::pack_bytes(contents(721));
  options.packs = {{first.data(), first.size(), "first"}, {second.data(), second.size(), "second"}};
  EXPECT_EQ(cap_of(options), 721);
  tune_by_the_user(730);
  EXPECT_EQ(cap_of(options), 730);
  options.default_databases = false;
  EXPECT_EQ(cap_of(options), 721);
  options.packs.clear();
  EXPECT_EQ(cap_of(options), 711);
  options.databases.clear();
  EXPECT_EQ(cap_of(options), 0);
}

TEST_F(PlanSources, AProblemThatAPackCoversOrIsNearToItUsesItsPlan) {
  Options options;
  options.databases = {pack("x.pack", 710)};
  EXPECT_EQ(cap_of(options, "nufft:type=1,n=32x32,m=6000,prec=f32,tol=1e-3"), 710);
  EXPECT_EQ(cap_of(options, "nufft:type=1,n=40x32,m=6000,prec=f32,tol=1e-3"), 710);
  EXPECT_EQ(cap_of(options, "nufft:type=1,n=2048x2048,m=6000,prec=f32,tol=1e-3"), 0) << "too far";
  EXPECT_EQ(cap_of(options, "nufft:type=1,n=32x32,m=6000,prec=f64,tol=1e-3"), 0) << "of another kin";
}

TEST_F(PlanSources, ExplanationsNameThePack) {
  Options options;
  options.databases = {pack("x.pack", 710)};
  const Transform transform(kSmall2d, options);
  EXPECT_NE(transform.explain().find("from the pack made 1.0: tuned"), std::string::npos) << transform.explain();
  EXPECT_EQ(transform.warnings(), "");
}

TEST_F(PlanSources, AFileIsReadOnceForAllTransformsAndAgainWhenItChanges) {
  Options options;
  options.databases = {pack("x.pack", 710)};
  tune_by_the_user(730);
  wait_for_the_clock();
  const auto first = shared_lookup(options);
  EXPECT_EQ(shared_lookup(options), first);
  Options other = options;
  other.databases.clear();
  EXPECT_NE(shared_lookup(other), first);
  EXPECT_EQ(shared_lookup(options), first);
  for (const std::int64_t cap : {731, 732, 733}) {
    tune_by_the_user(cap);
    EXPECT_EQ(cap_of(options), cap);
  }
  other.default_databases = false, other.databases = options.databases;
  EXPECT_EQ(cap_of(other), 710);
  pack("x.pack", 711);
  EXPECT_EQ(cap_of(other), 711);
  fs::remove(folder_ / "x.pack");
  EXPECT_EQ(cap_of(other), 0);
}

// Whoever closes a file gives back the locks of this process on it. Without them another process takes a database for
// its own, removes the log that we write and truncates the index that we have mapped.
TEST_F(PlanSources, LookingAtADatabaseKeepsTheLocksOfOpenOnes) {
  tune_by_the_user(730);
  const fs::path path = folder_ / "user.db";
  const db::Database open = db::Database::open(path, db::OpenMode::write, 1000);
  EXPECT_EQ(open.text("PRAGMA journal_mode = WAL"), "wal");
  open.execute("BEGIN");
  EXPECT_GT(open.integer("SELECT count(*) FROM sqlite_schema"), 0);
  // Another description of a file sees the process's own locks; it stays open to the end.
  const auto is_locked = [](int file, off_t from, off_t length) {
    struct flock lock {};
    lock.l_type = F_WRLCK, lock.l_whence = SEEK_SET, lock.l_start = from, lock.l_len = length;
    EXPECT_EQ(::fcntl(file, F_OFD_GETLK, &lock), 0);
    return lock.l_type != F_UNLCK;
  };
  const int data = ::open(path.c_str(), O_RDWR | O_CLOEXEC), index = ::open((path.string() + "-shm").c_str(), O_RDWR);
  const auto both = [&] { return is_locked(data, 0x40000000, 512) && is_locked(index, 120, 9); };
  ASSERT_TRUE(both());
  EXPECT_EQ(cap_of({}), 730);
  EXPECT_TRUE(both());
  wait_for_the_clock();
  EXPECT_EQ(cap_of({}), 730);
  EXPECT_TRUE(both());
  Options options;
  options.databases = {path.string()};
  EXPECT_FALSE(db::is_pack(path));
  shared_lookup(options);
  EXPECT_TRUE(both());
  ::close(data), ::close(index);
}

TEST_F(PlanSources, WhatCannotBeUsedIsReported) {
  const std::string good = pack("good.pack", 710).string();
  std::ofstream(folder_ / "bad.pack") << "not a pack";
  Options options;
  options.databases = {good, (folder_ / "bad.pack").string(), (folder_ / "none.pack").string()};
  const std::byte garbage[10]{};
  options.packs = {{garbage, sizeof garbage, "garbage"}};
  const Transform transform(kSmall2d, options);
  const std::string folder = folder_.string() + "/";
  for (const std::string& name : {folder + "bad.pack", folder + "none.pack", std::string("garbage")})
    EXPECT_NE(transform.warnings().find("not usable: " + name + " ("), std::string::npos) << transform.warnings();
  EXPECT_EQ(cap_of(options), 710);
  options.packs = {{nullptr, 5, "null"}};
  EXPECT_THROW(Transform(kSmall2d, options), Error);
}

TEST_F(PlanSources, ThroughTheCInterfaceTheyCanBeCombined) {
  const auto bytes = db::pack_bytes(contents(720));
  const std::string path = pack("x.pack", 710).string();
  const char* paths[] = {path.c_str()};
  const fourtune_pack packs[] = {{bytes.data(), bytes.size(), nullptr}};
  tune_by_the_user(730);
  fourtune_options options;
  fourtune_options_init(&options);
  const auto explained = [&] {
    fourtune_transform* transform = nullptr;
    EXPECT_EQ(fourtune_create(kSmall2d, &options, &transform), FOURTUNE_SUCCESS) << fourtune_last_error();
    EXPECT_STREQ(fourtune_warnings(transform), "");
    std::string text = fourtune_explain(transform);
    fourtune_destroy(transform);
    return text.substr(text.find("found:"));
  };
  EXPECT_NE(explained().find("cap=730"), std::string::npos);
  options.databases = paths, options.database_count = 1;
  EXPECT_NE(explained().find("cap=710"), std::string::npos);
  options.packs = packs, options.pack_count = 1;
  EXPECT_NE(explained().find("cap=720"), std::string::npos);
  EXPECT_NE(explained().find("(memory)"), std::string::npos);
  options.default_databases = 1;
  EXPECT_NE(explained().find("cap=730"), std::string::npos);
  const char* keys[] = {"no key"};
  options.trusted_keys = keys, options.trusted_key_count = 1;
  fourtune_transform* transform = nullptr;
  EXPECT_EQ(fourtune_create(kSmall2d, &options, &transform), FOURTUNE_INVALID_ARGUMENT);
  keys[0] = nullptr;
  EXPECT_EQ(fourtune_create(kSmall2d, &options, &transform), FOURTUNE_INVALID_OPTION);
  const fourtune_pack nothing[] = {{nullptr, 0, "nothing"}};
  options.trusted_key_count = 0, options.packs = nothing;
  EXPECT_EQ(fourtune_create(kSmall2d, &options, &transform), FOURTUNE_INVALID_OPTION);
}

// ---- kernels
TEST_F(PlanSources, KernelsRunIfTheirSignerIsNamedByTheUserOrTheApplication) {
  const db::KeyPair keys = db::make_keys("maker");
  db::PackContents all = contents(710);
  db::PackKernel kernel;
  kernel.digest = std::string(64, 'a'), kernel.entry = "k", kernel.target = "sm_90";
  kernel.kernel.image = {std::byte{1}};
  all.kernels = {kernel};
  const auto bytes = db::pack_bytes(all, keys.secret_key);
  Options options;
  options.packs = {{bytes.data(), bytes.size(), "embedded"}};
  std::string why;
  const auto count = [&] {
    why.clear();
    return packs_with_kernels(*shared_lookup(options), options, why).size();
  };
  EXPECT_EQ(count(), 0u);
  EXPECT_NE(why.find("kernels of embedded: not used: "), std::string::npos) << why;
  options.trusted_keys = {keys.public_key};
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(why, "");
  options.trusted_keys.clear();
  const fs::path key = folder_ / "config" / "fourtune" / "keys" / "maker.public";
  std::ofstream(key) << keys.public_key << "\n";
  EXPECT_EQ(count(), 1u);
  fs::permissions(key, fs::perms(0666));
  EXPECT_EQ(count(), 0u) << "anybody could have written this key";
  fs::permissions(key, fs::perms(0644));
  std::ofstream(key) << db::make_keys("other").public_key << "\n";
  EXPECT_EQ(count(), 0u);
}

}  // namespace
}  // namespace fourtune::runtime
