// Batches in which each transform has separate points; the transforms run one by one, on any backend.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// `make` binds one executor per transform, each to the problem with batch=1. Stage times are added up over the
// executors and launches are listed executor by executor. shared_twice returns the bytes that the executors share and
// that their sum counts more than once; null means none. set_points waits as often as the executors do, and an error
// names the transform.
std::unique_ptr<Executor> make_distinct_points_executor(
    const Problem& problem, const std::function<std::unique_ptr<Executor>(const Problem& one)>& make,
    std::function<std::int64_t()> shared_twice = {});

}  // namespace fourtune::runtime
