// What the tests of the public C++ interface share.
#pragma once

#include <complex>
#include <string>
#include <utility>

#include "fourtune/transform.h"

namespace fourtune {

using Complex = std::complex<double>;

// Options under which no database is looked at.
inline Options plain() {
  Options options;
  options.default_databases = false;
  return options;
}

// The status and the message of the Error that the work throws; success if it throws none.
template <class Work>
std::pair<Status, std::string> failure(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::success, ""};
}

}  // namespace fourtune
