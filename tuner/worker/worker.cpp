#include "tuner/worker/worker.h"

#include <chrono>
#include <utility>

#include "base/json_text.h"
#include "tuner/worker/child_process.h"
#include "tuner/worker/pipe.h"
#include "tuner/worker/protocol.h"

namespace fourtune::tuner {
namespace {

using protocol::Json;
constexpr double hello_timeout_seconds = 60;  // a loaded machine starts processes slowly
constexpr double hint_timeout_seconds = 10;
constexpr double slice_seconds = 0.05;  // how often a stop request is checked

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

struct WorkerProcess::Impl {
  WorkerOptions options;
  std::unique_ptr<ChildProcess> child;
  DeviceTraits traits;
  Problem problem;
  std::uint64_t seed = 0;
  std::vector<std::string> plans;  // to compile while the problem is loaded
  bool loaded = false;             // the present child holds the problem
  bool wanted = false;             // a problem was loaded at least once
  std::size_t starts = 0;

  struct Answer {
    Json json;                                 // valid with status ok
    db::RunStatus status = db::RunStatus::ok;  // otherwise crash, timeout or interrupted
    std::string message;
  };

  void start() {
    child.reset();
    loaded = false;
    ++starts;
    child = std::make_unique<ChildProcess>(options.command);
    const Answer hello = talk({{"op", "hello"}}, hello_timeout_seconds);
    if (hello.status != db::RunStatus::ok)
      throw Error(hello.status == db::RunStatus::interrupted ? Status::interrupted : Status::io,
                  "the worker '" + options.command.front() + "' does not answer: " + hello.message);
    traits = protocol::to_traits(hello.json.at("traits"));
  }

  void drop(const std::string& why, Answer& answer) {
    answer.message = why;
    if (const int end = child->end(); answer.status == db::RunStatus::crash)
      answer.message += ": " + describe_exit(end);
    child.reset();
    loaded = false;
  }

  // Sends a request and waits for the answer. A child that fails is gone afterwards.
  Answer talk(const Json& request, double timeout) {
    Answer answer;
    const double deadline = now() + timeout;
    double abandon = deadline;
    bool stopping = false;
    std::string line;
    LinePipe::Read outcome =
        child->pipe().write(protocol::to_line(request)) ? LinePipe::Read::timeout : LinePipe::Read::closed;
    while (outcome == LinePipe::Read::timeout && now() < abandon) {
      outcome = child->pipe().read(line, std::min(slice_seconds, std::max(0.0, abandon - now())));
      if (!stopping && options.stop && *options.stop) {
        stopping = true;
        abandon = std::min(deadline, now() + options.grace_seconds);
      }
    }
    if (outcome == LinePipe::Read::closed) {
      child->note_hang_up();
      answer.status = db::RunStatus::crash;
      drop("no answer", answer);
    } else if (outcome == LinePipe::Read::timeout) {
      answer.status = stopping ? db::RunStatus::interrupted : db::RunStatus::timeout;
      drop(stopping ? "stopped by the user" : "no answer within " + std::to_string(static_cast<int>(timeout)) + " s",
           answer);
    } else {
      answer.json = parse_json(line);
      if (!answer.json.is_object()) {
        answer.status = db::RunStatus::crash;
        drop("the answer makes no sense", answer);
      }
    }
    return answer;
  }

  // Ensures that there is a child and that it holds the problem.
  void ensure_loaded() {
    if (!child) start();
    if (loaded || !wanted) return;
    const Answer answer =
        talk({{"op", "load"}, {"problem", to_token(problem)}, {"seed", seed}, {"plans", std::exchange(plans, {})}},
             options.load_timeout_seconds);
    if (answer.status == db::RunStatus::interrupted) throw Error(Status::interrupted, answer.message);
    if (answer.status != db::RunStatus::ok)
      throw Error(Status::io, "the worker failed while it set up the problem: " + answer.message);
    if (answer.json.contains("error"))
      throw Error(Status::invalid_problem, answer.json.at("message").get<std::string>());
    loaded = true;
    load_spent = protocol::to_spent(answer.json.at("spent"));
  }
  Spent load_spent;  // of the present problem

  // Sends one request about plans: `convert` makes a result of the answer; a failure becomes a result with that status.
  template <class Result, class Request, class Convert>
  Result ask(const Request& request, const Convert& convert) {
    Result result;
    const double begin = now();
    try {
      ensure_loaded();
    } catch (const Error& error) {
      if (error.status() != Status::interrupted) throw;  // there is no worker, which is not this plan's fault
      result.status = db::RunStatus::interrupted;
      return result;
    }
    try {
      const Answer answer = talk(protocol::from_request(request), request.timeout_seconds);
      result.status = answer.status;
      result.message = answer.message;
      if (answer.status == db::RunStatus::ok) {
        if (answer.json.contains("error") && answer.json.at("error").is_string())
          throw Error(Status::internal, answer.json.value("message", std::string("the worker refused the request")));
        result = convert(answer.json);
      }
    } catch (const nlohmann::json::exception& error) {
      Answer nonsense;
      if (child) drop("the answer makes no sense", nonsense);
      result.status = db::RunStatus::crash;
      result.message = std::string("the worker's answer makes no sense: ") + error.what();
    } catch (const Error& error) {
      result.status = db::RunStatus::crash;
      result.message = error.what();
    }
    if (result.status != db::RunStatus::ok) result.cost_seconds = std::max(result.cost_seconds, now() - begin);
    return result;
  }
};

WorkerProcess::WorkerProcess(WorkerOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  if (auto& command = impl_->options.command; command.empty()) {
    command = {"/proc/self/exe",       "worker",   "--backend",
               impl_->options.backend, "--device", std::to_string(impl_->options.device)};
    if (!impl_->options.recorded.empty())
      command.insert(command.end(), {"--recorded", impl_->options.recorded.string()});
    if (!impl_->options.database.empty()) command.insert(command.end(), {"--db", impl_->options.database.string()});
  }
  impl_->start();
}
// The child is about to be killed, so it first writes the kernels that it compiled.
WorkerProcess::~WorkerProcess() {
  if (!impl_->child || !impl_->loaded) return;
  try {
    impl_->talk({{"op", "keep"}}, hint_timeout_seconds);
  } catch (const std::exception&) {  // they are compiled again
  }
}

DeviceTraits WorkerProcess::traits() { return impl_->traits; }

Spent WorkerProcess::load(const Problem& problem, std::uint64_t seed, const std::vector<std::string>& plans) {
  impl_->problem = problem;
  impl_->seed = seed;
  impl_->plans = plans;
  impl_->wanted = true;
  impl_->loaded = false;
  impl_->ensure_loaded();
  return impl_->load_spent;
}

void WorkerProcess::prepare(const std::vector<std::string>& plans) {
  if (plans.empty() || !impl_->child || !impl_->loaded) return;
  impl_->talk({{"op", "prepare"}, {"plans", plans}},
              hint_timeout_seconds);  // a child lost here is replaced when it is needed
}

std::size_t WorkerProcess::first_ready(const std::vector<std::string>& plans) {
  if (plans.size() < 2 || !impl_->child || !impl_->loaded) return 0;
  const auto answer = impl_->talk({{"op", "ready"}, {"plans", plans}}, hint_timeout_seconds);
  const bool places = answer.json.is_object() && answer.json.contains("place") && answer.json["place"].is_number();
  const std::size_t place = places ? answer.json["place"].get<std::size_t>() : 0;
  return place < plans.size() ? place : 0;
}

void WorkerProcess::announce(const Problem& next, const std::vector<std::string>& plans) {
  if (plans.empty() || !impl_->child || !impl_->loaded) return;
  impl_->talk({{"op", "announce"}, {"problem", to_token(next)}, {"plans", plans}}, hint_timeout_seconds);
}

Evaluation WorkerProcess::evaluate(const EvaluationRequest& request) {
  return impl_->ask<Evaluation>(request, protocol::to_evaluation);
}

FinalsResult WorkerProcess::finals(const FinalsRequest& request) {
  return impl_->ask<FinalsResult>(request, protocol::to_finals);
}

std::size_t WorkerProcess::restarts() const { return impl_->starts - 1; }

}  // namespace fourtune::tuner
