// Our own transforms as contenders: what is measured is the public interface.
#include <filesystem>
#include <vector>

#include "db/lookup.h"
#include "runtime/backend.h"
#include "runtime/resolve.h"
#include "tools/bench_contender.h"

namespace fourtune::tools {
namespace {

class Ours final : public Contender {
 public:
  Ours(const Problem& problem, const Options& options) : transform_(to_token(problem), options) {}
  void set_points(const Points& points) override { transform_.set_points(points); }
  void execute(void* first, void* second) override { transform_.execute(first, second); }
  std::vector<StageTime> stage_times() const override { return transform_.stage_times(); }
  std::string plan() const override { return transform_.plan(); }

 private:
  Transform transform_;
};

}  // namespace

std::unique_ptr<Contender> make_ours(const Problem& problem, int threads, const std::string& db,
                                     const std::string& plan) {
  Options options;
  options.default_databases = false;
  if (!db.empty()) options.databases = {db};
  options.threads = threads;
  options.plan = plan;
  return std::make_unique<Ours>(problem, options);
}

bool has_verdict(const Problem& problem, int threads, const std::string& db) {
  if (db.empty()) return false;
  const std::filesystem::path packs[] = {db};
  const db::Lookup lookup = db::Lookup::load({}, packs);
  DeviceTraits traits = runtime::find_backend({}).traits();
  if (threads > 0) traits.cores = threads;
  return runtime::resolve(problem, traits, &lookup, {}).source == runtime::Source::verdict;
}

}  // namespace fourtune::tools
