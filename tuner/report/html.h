// A report as one page of HTML: no scripts, nothing from elsewhere, every text of the database escaped. Charts:
// html_charts.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/report/story.h"

namespace fourtune::tuner {

// Makes a text safe between tags and in quoted attributes; control characters and broken UTF-8 are shown as escapes.
std::string html_escaped(std::string_view text);

// Drawings as SVG elements of the page; their colours come from its style sheet.
// The best time so far over the number of plans measured, each plan as a dot, failures as ticks below.
std::string course_chart(const Story& story);
// How many problems gained how much; each gain is at least 0.
std::string gains_chart(const std::vector<double>& gains);

// The whole page; `name` is what the report is of.
std::string html_report(const std::vector<Story>& stories, std::string_view name);

}  // namespace fourtune::tuner
