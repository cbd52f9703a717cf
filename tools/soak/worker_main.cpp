// The child's side of the worker.
#include <signal.h>
#include <sys/prctl.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "runtime/backend_table.h"
#include "tools/bench/measure/measure.h"
#include "tools/bench/peers/peers.h"
#include "tools/bench/report/ratio.h"
#include "tools/common/device_arrays.h"
#include "tools/common/gpu_backends.h"
#include "tools/soak/fault.h"
#include "tools/soak/protocol.h"
#include "tools/soak/subject.h"
#include "tools/soak/worker.h"
#include "tuner/worker/pipe.h"

namespace fourtune::tools {
namespace {

using Json = nlohmann::json;

// The session of one device, for all its cases.
class SoakSession {
 public:
  explicit SoakSession(const SoakWorkerOptions& options)
      : options_(options), backend_(&bench_backend(options.backend)) {
    if (auto faulty = faulty_backend(*backend_)) {
      static std::unique_ptr<runtime::Backend> kept;  // the table of backends keeps a pointer
      kept = std::move(faulty);
      runtime::add_backend(*kept);
      backend_ = kept.get();
    }
    sums_ = tuner::DeviceSums::make(*backend_, options.device);
    if (!options.dropin.empty()) dropin_ = std::make_unique<DropIn>(options.dropin);
  }

  Json answer(const Json& request) {
    const auto op = request.at("op").get<std::string>();
    if (op == "hello") return {{"device", traits().name}};
    if (op == "measure") return measure(parse_problem(request.at("token").get<std::string>()));
    SoakCase one = parse_case(request.at("case").get<std::string>());
    if (one.threads == 0) one.threads = options_.threads;
    if (op == "adapt")
      return {{"plan", adapted_plan(parse_case(request.at("from").get<std::string>()),
                                    request.at("plan").get<std::string>(), one, traits())}};
    const PlanKind kind = plan_kind_from(request.at("kind").get<std::string>());
    if (op == "plan") return {{"plan", draw_plan(one, kind, traits(), request.at("seed").get<std::uint64_t>())}};
    const auto plan = request.at("plan").get<std::string>();
    if (!data_ || !(data_->one == one)) {
      data_.reset();
      data_ = std::make_unique<CaseData>(one);
    }
    return from_outcome(
        try_case(*data_, {backend_, options_.device, plan, slack_of(one, kind, plan), dropin_.get(), sums_.get()}));
  }

 private:
  DeviceTraits traits() const { return backend_->traits(options_.device); }

  // Times our untuned transform and the peers in turn, on the problem without options, which peers support.
  Json measure(const Problem& problem) {
    if (!peers_loaded_) {
      current_ = backend_->make_current(options_.device);
      peers_ = load_peers(options_.peers, *backend_);
      peers_loaded_ = true;
    }
    const int threads = options_.threads > 0 ? options_.threads : std::max(1, traits().cores);
    std::vector<Entrant> entrants{
        our_entrant("untuned", Role::untuned, {std::string(backend_->name()), threads, {}, {}})};
    for (const Peer& peer : peers_)
      if (peer.library->does(problem.kind)) entrants.push_back(peer_entrant(peer, problem, threads));
    if (entrants.size() < 2) return {{"message", "no peer does this kind"}};
    MeasureOptions options;
    options.backend = backend_;
    options.rounds = 5;
    options.max_seconds = 10;
    const ProblemResult result = measure_problem(problem, entrants, options);
    const Comparison comparison = compare(result);
    if (!result.skipped.empty()) return {{"message", result.skipped}};
    if (comparison.untuned_score.outcome == Outcome::too_busy)
      return {{"message", "this machine was too busy to judge"}};
    if (comparison.untuned_score.outcome != Outcome::counted)
      return {{"message", std::string("not compared: ") + to_string(comparison.untuned_score.outcome)}};
    return {{"name", comparison.peer->name},
            {"ours", comparison.untuned->execute.median},
            {"peer", comparison.peer->execute.median}};
  }

  SoakWorkerOptions options_;
  const runtime::Backend* backend_;
  std::unique_ptr<DropIn> dropin_;
  std::unique_ptr<tuner::DeviceSums> sums_;
  std::unique_ptr<CaseData> data_;  // of the last case, because its other plans need the same data
  bool peers_loaded_ = false;
  std::shared_ptr<void> current_;
  std::vector<Peer> peers_;
};

}  // namespace

void soak_worker_main(const SoakWorkerOptions& options) {
  signal(SIGINT, SIG_IGN);  // the parent decides what a stop means; the signal may have gone to the whole group
  signal(SIGTERM, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  tuner::LinePipe pipe(3, 3);
  std::unique_ptr<SoakSession> session;
  std::string line;
  while (pipe.read(line, -1) == tuner::LinePipe::Read::line) {
    Json reply;
    try {
      if (!session) session = std::make_unique<SoakSession>(options);
      reply = session->answer(parse_json(line));
    } catch (const Error& error) {
      reply = {{"error", status_name(error.status())}, {"message", error.what()}};
    } catch (const std::exception& error) {
      reply = {{"error", "exception"}, {"message", error.what()}};
    }
    if (!pipe.write(to_line(reply))) return;
  }
}

}  // namespace fourtune::tools
