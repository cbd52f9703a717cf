// What a bench of ranks that work beside each other would take on more GPUs than there are (docs/design/distributed.md,
// "Beyond what is there").
#pragma once

namespace fourtune::tools {

// What joins GPUs. Bytes per second of one GPU, in each direction, and seconds per step.
struct Network {
  int gpus_per_node = 8;
  double link = 450e9, link_latency = 5e-6;        // within a node: NVLink
  double network = 50e9, network_latency = 10e-6;  // between nodes: one port of 400 Gbit/s for each GPU
};

// Seconds in which `gpus` GPUs add up arrays of so many bytes, and each keeps a part; or in which every one fetches the
// parts of the others. Nodes are full except for a single one, which may have fewer GPUs.
double exchange_seconds(double bytes, int gpus, const Network& network);

// The bytes per second of a node's links that make the exchange of so many bytes by two GPUs take so long.
double link_of(double bytes, double seconds, double latency);

// What a rank does in a round, in seconds: making a transform, copies from and to its host, and what keeps the device.
struct RankWork {
  double create = 0, copies = 0, device = 0;
};
// The time of ranks that take turns with devices, from that of one rank alone. `contention`: how much longer copies
// take while another rank makes some.
double shared_seconds(const RankWork& alone, double contention, int ranks, int devices);

}  // namespace fourtune::tools
