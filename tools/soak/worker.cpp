// The parent's side of the worker.
#include "tools/soak/worker.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "tools/common/gpu_backends.h"
#include "tools/common/stopwatch.h"
#include "tools/soak/protocol.h"

namespace fourtune::tools {
namespace {

using tuner::LinePipe;
using Json = nlohmann::json;

constexpr double kHelloSeconds = 120;   // a loaded machine starts processes slowly, and a GPU makes its context
constexpr double kSliceSeconds = 0.05;  // how often a stop request is checked
constexpr double kGraceSeconds = 1;

}  // namespace

struct SoakWorker::Impl {
  SoakWorkerOptions options;
  std::unique_ptr<tuner::ChildProcess> child;
  std::string device;

  struct Answer {
    Json json;
    std::string failure, message;  // how the worker ended, if it did
  };

  std::vector<std::string> command() const {
    std::vector<std::string> words{"/proc/self/exe",
                                   "soak",
                                   "--worker",
                                   "--backend",
                                   options.backend,
                                   "--device",
                                   fmt::format("{}", options.device)};
    if (options.threads > 0) words.insert(words.end(), {"--threads", fmt::format("{}", options.threads)});
    if (!options.dropin.empty()) words.insert(words.end(), {"--dropin", options.dropin});
    for (const std::string& peer : options.peers) words.insert(words.end(), {"--peer", peer});
    return words;
  }

  void start() {
    child = std::make_unique<tuner::ChildProcess>(command());
    const Answer hello = talk({{"op", "hello"}}, kHelloSeconds);
    if (!hello.failure.empty()) throw Error(Status::io, "the worker does not answer: " + hello.message);
    if (hello.json.contains("error"))
      throw Error(Status::backend_unavailable, hello.json.at("message").get<std::string>());
    device = hello.json.at("device").get<std::string>();
  }

  // Removes the child; the way in which it ended is the failure.
  Answer ended(bool hung_up) {
    Answer answer;
    if (hung_up) child->note_hang_up();
    const int status = child->end();
    child.reset();
    answer.failure = WIFSIGNALED(status) ? fmt::format("signal {}", ::sigabbrev_np(WTERMSIG(status)))
                                         : fmt::format("exit {}", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    answer.message = tuner::describe_exit(status);
    return answer;
  }

  Answer talk(const Json& request, double seconds) {
    const Stopwatch watch;
    double most = seconds;
    bool stopping = false;
    std::string line;
    LinePipe::Read read = child->pipe().write(to_line(request)) ? LinePipe::Read::timeout : LinePipe::Read::closed;
    while (read == LinePipe::Read::timeout && watch.seconds() < most) {
      read = child->pipe().read(line, kSliceSeconds);
      if (!stopping && options.stop && *options.stop) {
        stopping = true;
        most = std::min(most, watch.seconds() + kGraceSeconds);
      }
    }
    if (read == LinePipe::Read::line) {
      Answer answer{parse_json(line), {}, {}};
      if (answer.json.is_object()) return answer;
      ended(false);
      return {{}, "exit", "the worker's answer makes no sense"};
    }
    stopping = stopping || (options.stop && *options.stop);
    if (read == LinePipe::Read::closed && !stopping) return ended(true);
    ended(read == LinePipe::Read::closed);
    if (stopping) throw Error(Status::interrupted, "stopped by the user");
    return {{}, "timeout", fmt::format("no answer within {:.0f} s", seconds)};
  }

  SoakOutcome ask(const Json& request) {
    if (!child) start();
    const Answer answer = talk(request, options.timeout);
    SoakOutcome outcome;
    if (!answer.failure.empty()) {
      outcome.failure = answer.failure, outcome.message = answer.message;
    } else if (answer.json.contains("error")) {
      outcome.failure = "status " + answer.json.at("error").get<std::string>();
      outcome.message = answer.json.at("message").get<std::string>();
    } else {
      outcome = to_outcome(answer.json);
    }
    // Every later kernel of the process sees the effects of a failed kernel, so the process is replaced.
    if (!outcome.failure.empty() && capabilities_of(options.backend).faults_stay) child.reset();
    return outcome;
  }
};

SoakWorker::SoakWorker(SoakWorkerOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  impl_->start();
}
SoakWorker::~SoakWorker() = default;

std::string SoakWorker::device() { return impl_->device; }

SoakOutcome SoakWorker::draw(const SoakCase& one, PlanKind kind, std::uint64_t seed) {
  return impl_->ask({{"op", "plan"}, {"case", to_text(one)}, {"kind", to_string(kind)}, {"seed", seed}});
}

std::string SoakWorker::adapt(const SoakCase& from, const std::string& plan, const SoakCase& to) {
  const SoakOutcome outcome =
      impl_->ask({{"op", "adapt"}, {"from", to_text(from)}, {"plan", plan}, {"case", to_text(to)}});
  return outcome.failure.empty() ? outcome.plan : std::string();
}

SoakOutcome SoakWorker::try_case(const SoakCase& one, PlanKind kind, const std::string& plan) {
  SoakOutcome outcome = impl_->ask({{"op", "try"}, {"case", to_text(one)}, {"kind", to_string(kind)}, {"plan", plan}});
  if (outcome.plan.empty()) outcome.plan = plan;
  return outcome;
}

PeerTimes SoakWorker::measure(const Problem& problem) {
  if (!impl_->child) impl_->start();
  const Impl::Answer answer = impl_->talk({{"op", "measure"}, {"token", to_token(problem)}}, impl_->options.timeout);
  PeerTimes times;
  if (!answer.failure.empty())
    times.skipped = answer.message;
  else if (answer.json.contains("message"))
    times.skipped = answer.json.at("message").get<std::string>();
  else
    times = {{},
             answer.json.at("name").get<std::string>(),
             answer.json.at("ours").get<double>(),
             answer.json.at("peer").get<double>()};
  return times;
}

}  // namespace fourtune::tools
