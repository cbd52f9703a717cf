#include "tuner/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "tuner/report/device_words.h"

namespace fourtune::tuner {
namespace {

// Nothing may be loaded, whatever a text of the database says: the policy forbids it to the browser as well.
constexpr const char* kHead = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fourtune report</title><style>
:root{--text:#1c2330;--soft:#5c6675;--line:#d7dce3;--page:#fff;--card:#f6f8fa;--good:#0b7a53;--plain:#7d8896;--bad:#b3261e;--mark:#2158c7}
@media(prefers-color-scheme:dark){:root{--text:#e4e8ee;--soft:#9aa5b4;--line:#39424f;--page:#14181f;--card:#1c222b;--good:#4cc38a;--plain:#8792a2;--bad:#ff8078;--mark:#7aa7ff}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem;margin-bottom:.2rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{font:600 1rem/1.4 ui-monospace,monospace;overflow-wrap:anywhere;margin:0 0 .6rem}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1rem 1.2rem;margin:1.2rem 0}
.soft,.note{color:var(--soft)}.big{font-size:1.5rem;font-weight:600}.good{color:var(--good)}code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(22rem,1fr));gap:1.2rem;align-items:start}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}td.n,th.n{text-align:right;white-space:nowrap}
a{color:var(--mark);text-decoration:none}a:hover{text-decoration:underline}
.bar{height:10px;margin-top:.45em;border-radius:2px;background:var(--plain);min-width:2px;position:relative}.bar.good{background:var(--good)}.bar i{position:absolute;left:0;top:0;height:10px;border-radius:2px;background:var(--mark)}
svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}.axis{stroke:var(--line);fill:none}circle{fill:var(--plain)}.best{stroke:var(--good);stroke-width:2;fill:none}.untuned{stroke:var(--mark);stroke-dasharray:4 3;fill:none}.failed{stroke:var(--bad)}rect{fill:var(--good)}
</style></head><body>
)html";

constexpr const char* kLegend =
    "<p>Each drawing of a search has a dot for every plan, in the order of measuring. The green line is the best time so "
    "far, the dashed one the plan that runs untuned, and red ticks are plans that failed. Times of winner and untuned "
    "plan come from rounds in turns, so they may differ a little from the dots. Beside it are the winner's stages. The "
    "blue part of a bar is the stage's floor, a time that this plan cannot beat on the device: its arithmetic at the "
    "highest rate or, on a GPU, the bytes that it has to move.</p>\n";

constexpr std::size_t kLongestText = 600;

std::string code(std::string_view text) { return "<code>" + html_escaped(text) + "</code>"; }

// A bar of this share of the width, and inside it one for the floor.
std::string bar(double share, double floor_share, bool good) {
  const double wide = 100 * std::clamp(share, 0.0, 1.0);
  std::string inside;
  if (floor_share > 0)
    inside = fmt::format("<i style=\"width:{:.1f}%\"></i>", 100 * std::clamp(floor_share / share, 0.0, 1.0));
  return fmt::format("<div class=\"bar{}\" style=\"width:{:.1f}%\">{}</div>", good ? " good" : "", wide, inside);
}

double gain_of(const Story& story) {
  return story.untuned.seconds > 0 && story.winner.seconds > 0
             ? (story.winner.gain > 0 ? story.winner.gain : story.untuned.seconds / story.winner.seconds)
             : 0;
}

std::string comparison(const Story& story) {
  const double most = std::max({story.winner.seconds, story.untuned.seconds, story.library.seconds});
  std::string rows;
  const auto row = [&](const char* what, const std::string& plan, double seconds, bool good) {
    if (!(seconds > 0)) return;
    rows += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td style=\"width:30%\">{}</td><td>{}</td></tr>\n", what,
                        format_seconds(seconds), bar(seconds / most, 0, good), code(plan));
  };
  row("winner", story.winner.plan, story.winner.seconds, true);
  row("untuned", story.untuned.plan, story.untuned.seconds, false);
  row("library", story.library.plan, story.library.seconds, false);
  return rows.empty() ? std::string() : "<table>" + rows + "</table>\n";
}

std::string stage_table(const Story& story) {
  if (story.stages.empty()) return {};
  double most = 0;
  for (const StageFloor& stage : story.stages) most = std::max(most, stage.seconds);
  std::string text = "<table><tr><th>stage</th><th class=\"n\">time</th><th class=\"n\">floor</th><th></th></tr>\n";
  for (const StageFloor& stage : story.stages)
    text += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td style=\"width:45%\">{}</td></tr>\n",
        html_escaped(stage.stage), format_seconds(stage.seconds), stage.floor > 0 ? format_seconds(stage.floor) : "-",
        most > 0 ? bar(stage.seconds / most, stage.floor / most, true) : "");
  return text + "</table>\n";
}

std::string failure_table(const Story& story) {
  if (story.failures.empty()) return {};
  std::string text = "<table><tr><th>failed</th><th class=\"n\">plans</th><th>the first of them</th></tr>\n";
  for (const FailureGroup& group : story.failures)
    text += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td>{}<br><span class=\"soft\">{}</span></td></tr>\n",
                        db::to_string(group.status), group.count, code(group.plan), html_escaped(group.message));
  return text + "</table>\n";
}

// What the device said of itself when the winner was measured, and how many runs its clocks were held down for.
std::string measured_at(const Story& story) {
  std::string words = html_escaped(device_words(device_values(story.winner.state)));
  if (words.empty()) return {};
  if (story.winner.joules)
    words += fmt::format(", {:.3g} mJ per execute{}", *story.winner.joules * 1e3,
                         story.winner.objective == db::Objective::energy ? ", which it won by" : "");
  if (story.slowed > 0) words += fmt::format("; in {} of its runs the device held its clocks down", story.slowed);
  return fmt::format("<p class=\"soft\">The winner was measured at {}.</p>\n", words);
}

std::string problem_section(const Story& story, std::size_t number) {
  std::string text = fmt::format("<section id=\"p{}\"><h3>{}</h3>\n", number, html_escaped(story.problem));
  if (const double gain = gain_of(story); gain > 0) {
    text += fmt::format("<p><span class=\"big{}\">{:.2f}x</span> as fast as untuned", gain > 1.01 ? " good" : "", gain);
    if (story.winner.gain_high > story.winner.gain_low)
      text +=
          fmt::format(" <span class=\"soft\">[{:.2f}, {:.2f}]</span>", story.winner.gain_low, story.winner.gain_high);
    if (story.library.seconds > 0)
      text += fmt::format(", {:.2f}x as fast as the library", story.library.seconds / story.winner.seconds);
    text += "</p>\n";
  } else if (story.winner.plan.empty()) {
    text += "<p>No plan has won yet.</p>\n";
  }
  text += measured_at(story) + comparison(story);
  text += "<div class=\"two\"><div>" + course_chart(story) + "</div>\n<div>" + stage_table(story) + "</div></div>\n" +
          failure_table(story);
  return text + "</section>\n";
}

// The problems of one environment, and how much they gained.
std::string device_section(const std::vector<const Story*>& stories, std::size_t first) {
  const db::Environment& e = stories.front()->environment;
  std::vector<double> gains;
  double logs = 0;
  for (const Story* story : stories)
    if (const double gain = gain_of(*story); gain > 0) gains.push_back(gain), logs += std::log(gain);
  std::string text =
      fmt::format("<h2>{}</h2>\n<p class=\"soft\">{}, {}{}{}</p>\n", html_escaped(e.device), html_escaped(e.backend),
                  html_escaped(e.isa), e.driver.empty() ? "" : ", driver ", html_escaped(e.driver));
  if (!gains.empty())
    text += fmt::format(
        "<div class=\"two\"><div>{}</div><p><span class=\"big good\">{:.2f}x</span><br>geometric mean of the "
        "gains over untuned plans, of {} problems; the most is {:.2f}x</p></div>\n",
        gains_chart(gains), std::exp(logs / static_cast<double>(gains.size())), gains.size(),
        *std::max_element(gains.begin(), gains.end()));
  text +=
      "<table><tr><th>problem</th><th class=\"n\">winner</th><th class=\"n\">gain</th><th class=\"n\">plans</th></tr>\n";
  for (std::size_t i = 0; i < stories.size(); ++i) {
    const double gain = gain_of(*stories[i]);
    text += fmt::format(
        "<tr><td><a href=\"#p{}\">{}</a></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        first + i, code(stories[i]->problem),
        stories[i]->winner.seconds > 0 ? format_seconds(stories[i]->winner.seconds) : "-",
        gain > 0 ? fmt::format("{:.2f}x", gain) : "-", stories[i]->course.size());
  }
  text += "</table>\n";
  for (std::size_t i = 0; i < stories.size(); ++i) text += problem_section(*stories[i], first + i);
  return text;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char letter : text::shown(std::string(text), kLongestText)) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

std::string html_report(const std::vector<Story>& stories, std::string_view name) {
  std::size_t plans = 0, failures = 0;
  for (const Story& story : stories) {
    plans += story.course.size();
    for (const FailureGroup& group : story.failures) failures += group.count;
  }
  std::string page = kHead;
  page += fmt::format(
      "<h1>Fourtune report</h1>\n<p class=\"soft\">{}: {} problems, {} plans measured, {} of them failed</p>\n",
      html_escaped(name), stories.size(), plans, failures);
  page += stories.empty() ? "<p>Nothing is tuned yet.</p>\n" : kLegend;
  for (std::size_t first = 0; first < stories.size();) {
    std::vector<const Story*> part;
    while (first + part.size() < stories.size() &&
           stories[first + part.size()].environment == stories[first].environment)
      part.push_back(&stories[first + part.size()]);
    page += device_section(part, first);
    first += part.size();
  }
  return page + "</body></html>\n";
}

}  // namespace fourtune::tuner
