// What an exception means for the plan that was measured.
#pragma once

#include <exception>
#include <new>

#include "db/records.h"
#include "fourtune/status.h"
#include "runtime/backends/backend.h"

namespace fourtune::tuner {

inline db::RunStatus run_status_of(const Error& error) {
  switch (error.status()) {
    case Status::out_of_memory:
    case Status::size_overflow:
      return db::RunStatus::too_many_resources;
    case Status::interrupted:
      return db::RunStatus::interrupted;
    default:
      return db::RunStatus::rejected;
  }
}

// Runs `work` and stores what it throws as the status and message of `outcome`. Returns true when nothing was thrown.
template <class Outcome, class Work>
bool guarded(Outcome& outcome, const Work& work) {
  try {
    work();
    return true;
  } catch (const runtime::CompileError& error) {
    outcome.status = error.timed_out() ? db::RunStatus::timeout : db::RunStatus::compile_error;
    outcome.message = error.what();
  } catch (const Error& error) {
    outcome.status = run_status_of(error);
    outcome.message = error.what();
  } catch (const std::bad_alloc&) {
    outcome.status = db::RunStatus::too_many_resources;
    outcome.message = "out of memory";
  } catch (const std::exception& error) {
    outcome.status = db::RunStatus::crash;
    outcome.message = error.what();
  }
  return false;
}

}  // namespace fourtune::tuner
