// Asks a tuning database for everything that a program can ask it.
#pragma once

#include <string>

#include "db/tuning_store.h"

namespace fourtune::test {

inline void read_whole_store(const db::TuningStore& store) {
  store.winners();
  store.verdicts();
  store.sessions();
  const auto environments = store.environments();
  for (const std::string& problem : store.problems()) {
    store.runs(problem);
    for (const db::Environment& environment : environments) {
      store.runner_ups(problem, environment);
      for (const db::PlanHistory& plan : store.history(problem, environment))
        store.wisdom(problem, plan.plan, environment);
    }
  }
}

}  // namespace fourtune::test
