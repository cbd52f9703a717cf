#include "tuner/worker/compiler_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <exception>
#include <optional>
#include <span>

#include "base/json_text.h"
#include "tuner/worker/pipe.h"
#include "tuner/worker/protocol.h"

namespace fourtune::tuner {
namespace {

using protocol::Json;

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

int digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  throw Error(Status::internal, "an image is written in hexadecimal digits");
}

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(16 * digit(text[i]) + digit(text[i + 1])));
  return bytes;
}

Json compiled(const runtime::Backend& backend, const Json& request) {
  runtime::KernelJob job;
  request.at("entry").get_to(job.entry);
  request.at("text").get_to(job.text);
  request.at("registers").get_to(job.max_registers);
  request.at("target").get_to(job.target);
  try {
    const runtime::KernelImage made = backend.compile_kernel(job, request.at("seconds").get<double>());
    return {{"image", to_hex(made.image)}, {"log", made.log}};
  } catch (const runtime::CompileError& error) {
    return {{"error", "compile"}, {"message", error.what()}, {"timeout", error.timed_out()}};
  } catch (const Error& error) {
    return {{"error", "other"}, {"message", error.what()}, {"status", static_cast<int>(error.status())}};
  }
}

}  // namespace

int compiler_main(const runtime::Backend& backend, int fd) {
  constexpr int nice = 5;  // whoever measures goes first
  signal(SIGINT, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpriority(PRIO_PROCESS, 0, nice);
  LinePipe pipe(fd, fd);
  std::string line;
  while (pipe.read(line, -1) == LinePipe::Read::line) {
    Json reply;
    try {
      reply = compiled(backend, parse_json(line));
    } catch (const std::exception& error) {
      reply = {{"error", "other"}, {"message", error.what()}, {"status", static_cast<int>(Status::internal)}};
    }
    if (!pipe.write(protocol::to_line(reply))) break;
  }
  return 0;
}

runtime::KernelImage CompilerProcess::compile(const runtime::KernelJob& job, double seconds) {
  // The compiler keeps the limit by itself, in processor time. One that hangs is given up by the clock, late enough for
  // a busy machine.
  constexpr double patience = 10, grace_seconds = 3;
  const auto lost = [&](const char* why, bool late) {
    const int end = child_->end();
    child_.reset();
    return runtime::CompileError("kernel " + job.entry + ": " + why + (late ? "" : ": " + describe_exit(end)), late);
  };
  if (!child_) child_ = std::make_unique<ChildProcess>(command_);
  const Json request{{"entry", job.entry},
                     {"text", job.text},
                     {"registers", job.max_registers},
                     {"target", job.target},
                     {"seconds", seconds}};
  std::string line;
  const LinePipe::Read got = child_->pipe().write(protocol::to_line(request))
                                 ? child_->pipe().read(line, seconds > 0 ? patience * seconds + grace_seconds : -1)
                                 : LinePipe::Read::closed;
  if (got == LinePipe::Read::timeout) throw lost("the compiler does not end", true);
  if (got == LinePipe::Read::closed) {
    child_->note_hang_up();
    throw lost("the compiler was lost", false);
  }
  const Json answer = parse_json(line);
  try {
    if (answer.contains("image"))
      return {from_hex(answer.at("image").get<std::string>()), answer.at("log").get<std::string>()};
    const auto message = answer.at("message").get<std::string>();
    if (answer.at("error") == "compile") throw runtime::CompileError(message, answer.at("timeout").get<bool>());
    throw Error(static_cast<Status>(answer.at("status").get<int>()), message);
  } catch (const nlohmann::json::exception&) {
    throw lost("the compiler's answer makes no sense", false);
  }
}

}  // namespace fourtune::tuner
