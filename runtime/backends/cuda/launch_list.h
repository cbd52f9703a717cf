// The launches of a call. When the same kernels recur in the same order, as in every execute of a transform, they
// become one CUDA graph: the host then launches all of them with one call, and the GPU has no gaps between them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/backends/cuda/device.h"
#include "runtime/backends/gpu/launch_arguments.h"

namespace fourtune::runtime::cuda {

// Invariants:
// 1. A graph is made when a sequence of kernels occurs for the second time, or by prepare(); afterwards start()
//    allocates nothing.
// 2. Grids and arguments may differ from call to call: nodes that differ from the last start are updated.
// 3. Our graphs never go into a stream that is being captured: the caller passes `alone`.
// 4. Where the driver has no graphs (before CUDA 12.3), or cannot make one, kernels are launched one by one.
//
// Use from one thread at a time; the context must be current. Kernels must outlive the list and not move.
class LaunchList {
 public:
  LaunchList() = default;
  LaunchList(const LaunchList&) = delete;
  LaunchList& operator=(const LaunchList&) = delete;
  ~LaunchList();

  // Copies the arguments.
  void add(const LoadedKernel& kernel, const generator::Extent3& grid, const gpu::LaunchArguments& arguments);
  // Puts the added launches on the stream and clears the list. alone: launches one by one. Throws as Kernel::launch
  // does; the list is then cleared, too.
  void start(CUstream stream, bool alone = false);
  // Makes the graph of the added launches, so that start() finds it, and clears the list.
  void prepare();
  void drop() noexcept { items_.clear(), values_.clear(), starts_.clear(); }

 private:
  struct Item {
    const LoadedKernel* kernel = nullptr;
    generator::Extent3 grid{};
    std::size_t first = 0, count = 0;  // range in values_
    std::size_t parameter = 0;         // its first, in starts_
  };
  struct Graph {
    std::vector<Item> items;
    std::vector<std::uint64_t> values;
    std::vector<CUgraphNode> nodes;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    bool refused = false;
    std::uint64_t used = 0;
  };
  static constexpr std::size_t kGraphs = 6, kMostLaunches = 64;

  void start_alone(CUstream stream);
  bool start_graph(CUstream stream);
  Graph* find();
  Graph& remember();
  void point_to_values();
  bool make(Graph& graph);
  bool add_node(Graph& graph, std::size_t i);
  bool update(Graph& graph);
  CUkernelNodeParams params(const Item& item);
  static void destroy(Graph& graph) noexcept;

  std::vector<Item> items_;
  std::vector<std::uint64_t> values_;
  std::vector<std::size_t> starts_;  // of the parameters, in values_
  std::vector<void*> pointers_;      // to them
  std::array<Graph, kGraphs> graphs_;
  std::uint64_t clock_ = 0;
};

}  // namespace fourtune::runtime::cuda
