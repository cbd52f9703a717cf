// The child's side of the worker.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "base/json_text.h"
#include "tuner/measure/evaluate.h"
#include "tuner/worker/compiler_process.h"
#include "tuner/worker/pipe.h"
#include "tuner/worker/protocol.h"
#include "tuner/worker/worker.h"

namespace fourtune::tuner {
namespace {

using protocol::Json;

// The fault that FOURTUNE_TEST_FAULT asks for; see worker.h.
struct Fault {
  std::string kind, text;

  static Fault from_environment() {
    const char* value = std::getenv("FOURTUNE_TEST_FAULT");
    const std::string setting = value ? value : "";
    const std::size_t colon = setting.find(':');
    if (colon == std::string::npos) return {};
    return {setting.substr(0, colon), setting.substr(colon + 1)};
  }
  void strike(const std::string& plan, LinePipe& pipe) const {
    if (kind.empty() || plan.find(text) == std::string::npos) return;
    if (kind == "crash") {
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    if (kind == "exit") _exit(0);
    if (kind == "garbage") pipe.write("this is not an answer\n");
    if (kind == "hang")
      while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
};

Json load(LocalEvaluator& evaluator, const Json& request) {
  try {
    const Problem problem = parse_problem(request.at("problem").get<std::string>());
    return {{"spent", protocol::from_spent(evaluator.load(problem, request.at("seed").get<std::uint64_t>(),
                                                          request.value("plans", std::vector<std::string>())))}};
  } catch (const Error& error) {
    return {{"error", status_name(error.status())}, {"message", error.what()}};
  }
}

Json answer(LocalEvaluator& evaluator, const Json& request, const Fault& fault, LinePipe& pipe) {
  const auto op = request.at("op").get<std::string>();
  if (op == "hello") return {{"traits", protocol::from_traits(evaluator.traits())}};
  if (op == "load") return load(evaluator, request);
  if (op == "prepare") {
    evaluator.prepare(request.at("plans").get<std::vector<std::string>>());
    return Json::object();
  }
  if (op == "ready") return {{"place", evaluator.first_ready(request.at("plans").get<std::vector<std::string>>())}};
  if (op == "announce") {
    evaluator.announce(parse_problem(request.at("problem").get<std::string>()),
                       request.at("plans").get<std::vector<std::string>>());
    return Json::object();
  }
  if (op == "keep") {
    evaluator.keep();
    return Json::object();
  }
  if (op == "evaluate") {
    const EvaluationRequest evaluation = protocol::to_evaluation_request(request);
    fault.strike(evaluation.plan, pipe);
    return protocol::from_evaluation(evaluator.evaluate(evaluation));
  }
  if (op == "finals") {
    const FinalsRequest finals = protocol::to_finals_request(request);
    return protocol::from_finals(evaluator.finals(finals));
  }
  return {{"error", "invalid_argument"}, {"message", "unknown request '" + op + "'"}};
}

}  // namespace

int worker_main(const runtime::Backend& backend, const WorkerSetup& setup) {
  signal(SIGINT, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the parent died before this call, the socket's end shows it
  LinePipe pipe(setup.fd, setup.fd);
  std::function<KernelCompiler()> compilers;
  if (!setup.compiler.empty())
    compilers = [&setup]() -> KernelCompiler {
      const auto process = std::make_shared<CompilerProcess>(setup.compiler);
      return [process](const runtime::KernelJob& job) {
        return process->compile(job, LocalEvaluator::most_compile_seconds);
      };
    };
  LocalEvaluator evaluator(backend, setup.recorded, setup.device, std::move(compilers));
  bool noted = false;
  const Fault fault = Fault::from_environment();
  std::string line;
  while (pipe.read(line, -1) == LinePipe::Read::line) {
    Json reply;
    try {
      reply = answer(evaluator, parse_json(line), fault, pipe);
    } catch (const std::exception& error) {
      reply = {{"error", "internal"}, {"message", error.what()}};
    }
    if (evaluator.device_lost()) _exit(3);
    if (const std::string note = noted ? "" : evaluator.note(); !note.empty()) {
      std::fprintf(stderr, "fourtune: note: %s\n", note.c_str());
      noted = true;
    }
    if (!pipe.write(protocol::to_line(reply))) break;
  }
  return 0;
}

}  // namespace fourtune::tuner
