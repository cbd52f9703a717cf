// The drawings of a report as scripts for gnuplot.
#pragma once

#include <string>
#include <vector>

#include "tuner/report/story.h"

namespace fourtune::tuner {

struct Plot {
  std::string name;    // of the file, without folder and ending: "search-1"
  std::string script;  // what to draw, without terminal and output
  int height = 400;    // pixels; the width is 900
};

// "gains" with the gain of each problem over its untuned plan, for each environment, and "search-1", "search-2", ...
// with the course of each problem's search, in the order of the stories. What has nothing to draw is left out.
std::vector<Plot> plots_of(const std::vector<Story>& stories);

}  // namespace fourtune::tuner
