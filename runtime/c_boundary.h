// What the C interfaces share: the only place where exceptions become statuses, and where C options are read.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "fourtune/fourtune.h"
#include "fourtune/transform.h"

namespace fourtune::runtime {

// Keeps the message for this thread's last_error() and returns the status.
fourtune_status fail(Status status, const char* message) noexcept;
void forget_error() noexcept;
const char* last_error() noexcept;
[[noreturn]] void refuse(Status status, const std::string& message);

// Runs the work; what it throws becomes a status.
template <class Work>
fourtune_status guarded(Work&& work) noexcept {
  try {
    forget_error();
    work();
    return FOURTUNE_SUCCESS;
  } catch (const Error& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(Status::out_of_memory, "not enough memory");
  } catch (const std::exception& error) {
    return fail(Status::internal, error.what());
  } catch (...) {
    return fail(Status::internal, "unknown exception");
  }
}

// Null: the defaults. Throws Error{invalid_option} for values that are not allowed.
Options options_of(const fourtune_options* given);

}  // namespace fourtune::runtime
