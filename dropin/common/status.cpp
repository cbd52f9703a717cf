#include "dropin/common/status.h"

#include <cstdio>
#include <new>

#include "fourtune/status.h"

namespace fourtune::dropin {
namespace {

Code code_of(Status status) {
  switch (status) {
    case Status::success:
      return Code::success;
    case Status::invalid_point:
      return Code::bad_point;
    case Status::tolerance_unreachable:
      return Code::too_accurate;
    case Status::size_overflow:
      return Code::too_large;
    case Status::out_of_memory:
      return Code::no_memory;
    case Status::backend_unavailable:
      return Code::gpu_failed;
    case Status::internal:
      return Code::unknown;
    default:
      return Code::bad_argument;
  }
}

void write(const char* caller, const char* kind, const char* text) noexcept {
  std::fprintf(stderr, "%s %s: %s\n", caller, kind, text);
}

int failed(const char* caller, Code code, const char* text) noexcept {
  write(caller, "error", text);
  return static_cast<int>(code);
}

}  // namespace

int code_of_exception(const char* caller) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return failed(caller, failure.code(), failure.what());
  } catch (const Error& error) {
    return failed(caller, code_of(error.status()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(caller, Code::no_memory, "not enough memory");
  } catch (const std::exception& error) {
    return failed(caller, Code::unknown, error.what());
  } catch (...) {
    return failed(caller, Code::unknown, "an exception of unknown type");
  }
}

void warn(const char* caller, const std::string& text) noexcept { write(caller, "warning", text.c_str()); }

}  // namespace fourtune::dropin
