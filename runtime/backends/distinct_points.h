// Batches whose transforms have points of their own, run one by one: on any backend.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/backends/backend.h"

namespace fourtune::runtime {

// One executor a transform, each bound to the problem with batch=1 by `make`; their times are added, their launches
// listed in turn. shared_twice: bytes that they count more than once, because they share them; null: none.
// set_points waits as often as the executors do, and an error names the transform.
std::unique_ptr<Executor> make_distinct_points_executor(
    const Problem& problem, const std::function<std::unique_ptr<Executor>(const Problem& one)>& make,
    std::function<std::int64_t()> shared_twice = {});

}  // namespace fourtune::runtime
