#include "tests/fuzz/use_database.h"

#include <fstream>
#include <iterator>

#include "db/lookup.h"
#include "db/tuning_store.h"
#include "fourtune/transform.h"
#include "runtime/environment.h"
#include "runtime/resolve.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/read_store.h"
#include "tuner/report/report.h"

namespace fourtune::fuzz {
namespace {

const DeviceTraits& here() {
  static const DeviceTraits traits = cpu_traits();
  return traits;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void read_all(const std::filesystem::path& path, db::OpenAs as) {
  const auto store = db::TuningStore::open_for_reading(path, as);
  test::read_whole_store(store);
  for (const auto format : {tuner::Format::table, tuner::Format::csv, tuner::Format::json})
    require(!tuner::format_rows(tuner::show_rows(store, {}), format).empty(), "show says something");
}

void resolve(const std::filesystem::path& path, const std::string& token) {
  const db::Lookup lookup = db::Lookup::load(path);
  require(lookup.layers().size() == 1, "one file is one layer");
  require(lookup.layers()[0].usable || !lookup.layers()[0].reason.empty(), "what is not used has a reason");
  const Problem problem = parse_problem(token);
  const runtime::Resolution found = runtime::resolve(problem, here(), &lookup, {});
  const std::string text = generator::to_text(found.plan, problem);
  require(generator::to_text(generator::parse_plan(text, problem), problem) == text, "what is resolved is a valid plan",
          text);
  require(!found.explain.empty(), "a resolution says why", text);
}

void create(const std::filesystem::path& path, const std::string& token) {
  Options options;
  options.default_databases = false;
  options.databases = {path.string()};
  options.backend = "cpu";
  options.threads = 1;
  accepted([&] {
    const Transform transform(token, options);
    require(!transform.explain().empty(), "a transform says why it runs what it runs");
  });
}

}  // namespace

const std::vector<std::string>& small_problems() {
  static const std::vector<std::string> tokens{
      "fft:type=c2c,n=24,prec=f64",
      "nufft:type=1,n=16x12,m=100,prec=f32,tol=1e-3",
      "nufft:type=3,dim=1,m=50,k=60,prec=f64,tol=1e-6,extent=40",
      "fft:type=r2c,n=15x8,prec=f32,batch=2",
      "fft:type=c2c,n=25,prec=f64",
      "nufft:type=1,n=16x12,m=150,prec=f32,tol=1e-4",
      "nufft:type=2,n=20,m=30,prec=f64,tol=1e-9",
  };
  return tokens;
}

const db::Environment& environment_here() {
  static const db::Environment environment = runtime::environment_here(here());
  return environment;
}

void use_database(const std::filesystem::path& path, std::size_t seed) {
  const std::string before = bytes_of(path);
  for (const db::OpenAs as : {db::OpenAs::shared, db::OpenAs::immutable}) accepted([&] { read_all(path, as); });
  const std::string& token = small_problems()[seed % small_problems().size()];
  resolve(path, token);
  create(path, token);
  require(bytes_of(path) == before, "readers leave a database as it is");
}

}  // namespace fourtune::fuzz
