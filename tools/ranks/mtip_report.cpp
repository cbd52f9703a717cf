// The tables, the CSV and the figure of suite mtip.
#include <fmt/format.h>

#include <algorithm>

#include "tools/bench/report/report.h"
#include "tools/bench/report/series.h"
#include "tools/ranks/mtip_suite.h"
#include "tuner/report/report.h"
#include "tuner/report/table.h"

namespace fourtune::tools::mtip {
namespace {

using tuner::format_seconds;
using Rows = std::vector<tuner::Cells>;

bool ran(const Version& version) { return version.admitted.failure.empty(); }
std::string ratio_text(double of, double to) { return of > 0 && to > 0 ? fmt::format("{:.2f}x", of / to) : "-"; }
std::string sides(const Problem& problem) { return fmt::format("{}^3", problem.n[0]); }

// The least time of a right peer on so many ranks; 0: there is none.
double peer_seconds(const Task& task, int ranks, double (*value)(const RoundTimes&)) {
  double least = 0;
  for (const Version& version : task.versions) {
    if (!ran(version) || version.admitted.role != Role::peer || !version.admitted.right) continue;
    const double seconds = value(version.on(ranks).median());
    if (least == 0 || seconds < least) least = seconds;
  }
  return least;
}
double execute_of(const RoundTimes& times) { return times.execute; }
double total_of(const RoundTimes& times) { return times.total(); }
double again_of(const RoundTimes& times) { return times.again + times.exchange; }

// What the paper printed: seconds on one V100 and on all of a node.
struct Printed {
  const char *where, *one, *node;
};
std::vector<Printed> printed(bool slicing) {
  if (slicing)
    return {{"Cori, 8 V100", "75 ms", "78 ms"},
            {"Summit, 6 V100", "76 ms", "110 ms"},
            {"FINUFFT, 40 threads", "110 ms", "1.49 s"}};
  return {{"Cori, 8 V100", "1.89 s", "1.94 s"},
          {"Summit, 6 V100", "1.76 s", "1.76 s"},
          {"FINUFFT, 40 threads", "1.62 s", "12.0 s"}};
}

// A node's links as the exchange of two ranks shows them. Ranks of one machine are one node.
Network network_here(const Results& results, const Version& version, const Task& task) {
  Network here;
  here.gpus_per_node = std::max(1, results.ranks / results.machines);
  if (results.ranks < 2) return here;
  here.link_latency = 0;
  here.link = link_of(task.exchanged, version.on(2).median().exchange, 0);
  return here;
}

}  // namespace

double modelled_seconds(const Results& results, const Task& task, const Version& version, int ranks) {
  const auto copies = [](const RoundTimes& t) { return t.upload + t.download; };
  const RoundTimes alone = version.on(1).median();
  const double more = results.ranks > 1 ? copies(version.on(2).median()) / std::max(copies(alone), 1e-9) : 1;
  const int devices = results.shares_devices ? results.devices : ranks;
  return shared_seconds({alone.create, copies(alone), alone.set_points + alone.execute}, std::max(1.0, more), ranks,
                        devices) +
         exchange_seconds(task.exchanged, ranks, network_here(results, version, task));
}

std::string table_two(const Results& results, const tuner::Screen& screen) {
  Rows rows{{"task", "grid", "points per rank", "ranks", "version", "create", "points there", "set_points", "execute",
             "back", "exchange", "total", "again", "peer's execute / this", "total", "again", "error"}};
  for (const Task& task : results.tasks) {
    std::vector<int> places{1};
    if (results.whole() > 1) places.push_back(results.whole());
    for (const int ranks : places)
      for (const Version& version : task.versions) {
        if (!ran(version)) continue;
        const RoundTimes t = version.on(ranks).median();
        rows.push_back({task.name, sides(task.problem), fmt::format("{:.3g}", static_cast<double>(*task.problem.m)),
                        ranks == 1 ? "1" : fmt::format("{} (node)", ranks), version.admitted.name,
                        format_seconds(t.create), format_seconds(t.upload), format_seconds(t.set_points),
                        format_seconds(t.execute), format_seconds(t.download), format_seconds(t.exchange),
                        format_seconds(t.total()), format_seconds(again_of(t)),
                        ratio_text(peer_seconds(task, ranks, execute_of), t.execute),
                        ratio_text(peer_seconds(task, ranks, total_of), t.total()),
                        ratio_text(peer_seconds(task, ranks, again_of), again_of(t)),
                        fmt::format("{:.1e}{}", version.admitted.error, version.admitted.right ? "" : " WRONG")});
      }
  }
  std::string text =
      "\nTable II: times of the slowest rank, medians of the rounds; again: with a transform that is there\n" +
      tuner::table_text(rows, {{2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, -1}, screen);
  text += "the paper's, with the copies:";
  for (const Task& task : results.tasks)
    for (const Printed& one : printed(task.problem.type == 2))
      text += fmt::format(" {} {} {} and {};", task.name, one.where, one.one, one.node);
  text.back() = '\n';
  return text;
}

std::string weak_scaling(const Results& results, const tuner::Screen& screen) {
  Rows rows{{"task", "ranks", "version", "setup", "execute", "exchange", "total", "least", "most", "efficiency",
             "model", "measured / model"}};
  for (const Task& task : results.tasks)
    for (const Version& version : task.versions) {
      if (!ran(version)) continue;
      for (const Measured& one : version.by_ranks) {
        const RoundTimes t = one.median();
        const auto by_total = [](const RoundTimes& a, const RoundTimes& b) { return a.total() < b.total(); };
        const auto [least, most] = std::minmax_element(one.rounds.begin(), one.rounds.end(), by_total);
        const double model = modelled_seconds(results, task, version, one.ranks);
        rows.push_back({task.name, fmt::format("{}", one.ranks), version.admitted.name,
                        format_seconds(t.create + t.upload + t.set_points), format_seconds(t.execute),
                        format_seconds(t.exchange), format_seconds(t.total()), format_seconds(least->total()),
                        format_seconds(most->total()),
                        fmt::format("{:.2f}", version.on(1).median().total() / t.total()), format_seconds(model),
                        fmt::format("{:.2f}", t.total() / model)});
      }
    }
  return fmt::format("\nFigure 9: weak scaling, every rank with a problem of Table II\n{}",
                     tuner::table_text(rows, {{1, 3, 4, 5, 6, 7, 8, 9, 10, 11}, -1}, screen));
}

std::string beyond(const Results& results, const Options& options, const tuner::Screen& screen) {
  const Network& network = options.network;
  Rows rows{{"task", "version", "GPUs", "nodes", "work", "exchange", "total", "efficiency"}};
  for (const Task& task : results.tasks)
    for (const Version& version : task.versions) {
      if (!ran(version)) continue;
      const double alone = version.on(1).median().work, work = version.on(results.whole()).median().work;
      for (int gpus = network.gpus_per_node; gpus <= options.most_gpus; gpus *= 2) {
        const double exchange = exchange_seconds(task.exchanged, gpus, network);
        rows.push_back({task.name, version.admitted.name, fmt::format("{}", gpus),
                        fmt::format("{}", gpus / network.gpus_per_node), format_seconds(work), format_seconds(exchange),
                        format_seconds(work + exchange), fmt::format("{:.2f}", alone / (work + exchange))});
      }
    }
  return fmt::format(
      "\nModel of more GPUs: nodes of {} GPUs, {:.4g} GB/s and {:.3g} us within, {:.4g} GB/s of each GPU and {:.3g} us "
      "between them; work as\nmeasured on {} rank{}\n{}",
      network.gpus_per_node, network.link * 1e-9, network.link_latency * 1e6, network.network * 1e-9,
      network.network_latency * 1e6, results.whole(), results.whole() == 1 ? "" : "s",
      tuner::table_text(rows, {{2, 3, 4, 5, 6, 7}, -1}, screen));
}

std::string csv_text(const Results& results) {
  std::string text =
      "where,machines,devices,task,problem,version,plan,right,error,ranks,round,create,upload,set_points,execute,"
      "download,work,again,exchange,total\n";
  for (const Task& task : results.tasks)
    for (const Version& version : task.versions) {
      const Admitted& one = version.admitted;
      const std::string head = fmt::format("{},{},{},{},{},{},{},{},{:.3e}", csv_field(results.where), results.machines,
                                           results.devices, task.name, csv_field(to_token(task.problem)),
                                           csv_field(one.name), csv_field(one.plan), one.right ? 1 : 0, one.error);
      for (const Measured& measured : version.by_ranks)
        for (std::size_t i = 0; i < measured.rounds.size(); ++i) {
          const RoundTimes& t = measured.rounds[i];
          text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", head, measured.ranks, i + 1, t.create, t.upload,
                              t.set_points, t.execute, t.download, t.work, t.again, t.exchange, t.total());
        }
    }
  return text;
}

std::string plot(const Results& results, const std::string& path) {
  std::vector<Panel> panels;
  for (const Task& task : results.tasks) {
    Panel panel{fmt::format("Figure 9: {}, {} points per rank", task.name, *task.problem.m), "ranks", "seconds", {}};
    for (const Version& version : task.versions)
      for (const Measured& one : version.by_ranks) {
        const RoundTimes t = one.median();
        const std::string& name = version.admitted.name;
        panel.points.push_back({name + ", total", static_cast<double>(one.ranks), t.total()});
        panel.points.push_back({name + ", setup", static_cast<double>(one.ranks), t.create + t.upload + t.set_points});
        panel.points.push_back({name + ", execute", static_cast<double>(one.ranks), t.execute});
        panel.points.push_back(
            {name + ", model", static_cast<double>(one.ranks), modelled_seconds(results, task, version, one.ranks)});
      }
    panels.push_back(std::move(panel));
  }
  return plot_panels(panels, path);
}

}  // namespace fourtune::tools::mtip
