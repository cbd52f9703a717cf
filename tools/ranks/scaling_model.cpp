#include "tools/ranks/scaling_model.h"

#include <algorithm>
#include <cmath>

namespace fourtune::tools {
namespace {

// Halving and doubling: log2(p) steps, in which a part of 1 - 1/p of the bytes travels.
double step_seconds(double bytes, int parts, double bandwidth, double latency) {
  if (parts <= 1) return 0;
  return bytes * (1 - 1.0 / parts) / bandwidth + latency * std::ceil(std::log2(parts));
}

}  // namespace

double exchange_seconds(double bytes, int gpus, const Network& network) {
  const int within = std::min(gpus, network.gpus_per_node);
  const int nodes = (gpus + within - 1) / within;
  // First within each node, so that a GPU has only its part of the node's sum to exchange with its peers of other
  // nodes.
  return step_seconds(bytes, within, network.link, network.link_latency) +
         step_seconds(bytes / within, nodes, network.network, network.network_latency);
}

double link_of(double bytes, double seconds, double latency) {
  const double moving = std::max(seconds - latency, 1e-9);
  return bytes / 2 / moving;
}

double shared_seconds(const RankWork& alone, double contention, int ranks, int devices) {
  const auto turns = static_cast<double>((ranks + devices - 1) / devices);
  return alone.create + alone.copies * (ranks > 1 ? contention : 1) + alone.device * turns;
}

}  // namespace fourtune::tools
