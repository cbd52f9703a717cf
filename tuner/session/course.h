// The course of one problem's search: what each second of it brought, and so what the next ones may bring.
#pragma once

#include <cstddef>
#include <vector>

namespace fourtune::tuner {

class SearchCourse {
 public:
  // A plan was measured, which took `cost` seconds; the best plan so far then takes `best` (0: none is right yet).
  void add(double cost, double best);
  // Whether the search has ended its rise: many plans were measured since one was better by more than noise.
  bool settled() const;
  // By how much, as a logarithm of times, a second more is expected to improve the best plan: what the later half of
  // the search brought per second. A search that brought nothing then is expected to bring a little, less the longer it
  // was.
  double gain_per_second() const;

 private:
  struct Step {
    double until = 0;  // seconds of the search at its end
    double best = 0;
  };
  std::vector<Step> steps_;
  std::size_t improved_ = 0;  // steps up to the last improvement
  double level_ = 0;          // the best time then
};

}  // namespace fourtune::tuner
