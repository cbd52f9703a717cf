#include "runtime/backends/cuda/launch_list.h"

#include <algorithm>

namespace fourtune::runtime::cuda {

LaunchList::~LaunchList() {
  for (Graph& graph : graphs_) destroy(graph);
}

void LaunchList::destroy(Graph& graph) noexcept {
  const DriverApi& api = driver();
  if (graph.exec) api.cuGraphExecDestroy(graph.exec);
  if (graph.graph) api.cuGraphDestroy(graph.graph);
  graph.exec = nullptr, graph.graph = nullptr;
  graph.nodes.clear();
}

void LaunchList::add(const LoadedKernel& kernel, const generator::Extent3& grid,
                     const gpu::LaunchArguments& arguments) {
  items_.push_back({&kernel, grid, values_.size(), arguments.words().size(), starts_.size()});
  for (const std::size_t start : arguments.starts()) starts_.push_back(values_.size() + start);
  values_.insert(values_.end(), arguments.words().begin(), arguments.words().end());
}

void LaunchList::start(CUstream stream, bool alone) {
  if (items_.empty()) return;
  point_to_values();
  try {
    if (alone || items_.size() > kMostLaunches || !driver().has_graphs || !start_graph(stream)) start_alone(stream);
  } catch (...) {
    drop();
    throw;
  }
  drop();
}

void LaunchList::prepare() {
  if (!items_.empty() && items_.size() <= kMostLaunches && driver().has_graphs) {
    point_to_values();
    ++clock_;
    Graph* const known = find();
    Graph& graph = known ? *known : remember();
    graph.used = clock_;
    if (!graph.exec && !graph.refused && !make(graph)) {
      destroy(graph);
      graph.refused = true;
    }
  }
  drop();
}

// The values must not move after this call.
void LaunchList::point_to_values() {
  pointers_.clear();
  for (const std::size_t start : starts_) pointers_.push_back(&values_[start]);
}

void LaunchList::start_alone(CUstream stream) {
  for (const Item& item : items_)
    item.kernel->launch(item.grid, pointers_.data() + item.parameter, stream, &item != items_.data());
}

// Returns false when nothing was started.
bool LaunchList::start_graph(CUstream stream) {
  ++clock_;
  Graph* graph = find();
  if (!graph) {
    remember();
    return false;
  }
  graph->used = clock_;
  if (graph->refused) return false;
  if (!(graph->exec ? update(*graph) : make(*graph))) {
    destroy(*graph);
    graph->refused = true;
    return false;
  }
  check(driver().cuGraphLaunch(graph->exec, stream), "launching a graph of kernels");
  return true;
}

// Replaces the least recently used graph.
LaunchList::Graph& LaunchList::remember() {
  Graph& graph =
      *std::min_element(graphs_.begin(), graphs_.end(), [](const Graph& a, const Graph& b) { return a.used < b.used; });
  destroy(graph);
  graph.items = items_, graph.values = values_;
  graph.refused = false;
  graph.used = clock_;
  return graph;
}

LaunchList::Graph* LaunchList::find() {
  const auto same = [](const Item& a, const Item& b) { return a.kernel == b.kernel && a.count == b.count; };
  for (Graph& graph : graphs_)
    if (graph.used != 0 && std::equal(items_.begin(), items_.end(), graph.items.begin(), graph.items.end(), same))
      return &graph;
  return nullptr;
}

CUkernelNodeParams LaunchList::params(const Item& item) {
  CUkernelNodeParams out{};
  const LoadedKernel& kernel = *item.kernel;
  out.function = kernel.function();
  std::copy(item.grid.begin(), item.grid.end(), out.grid);
  std::copy(kernel.block().begin(), kernel.block().end(), out.block);
  out.shared_bytes = kernel.shared_bytes();
  out.arguments = pointers_.data() + item.parameter;
  return out;
}

// Adds node i, which follows node i - 1.
bool LaunchList::add_node(Graph& graph, std::size_t i) {
  const DriverApi& api = driver();
  const LoadedKernel& kernel = *items_[i].kernel;
  const CUkernelNodeParams with = params(items_[i]);
  CUgraphNode node = nullptr;
  if (api.cuGraphAddKernelNode(&node, graph.graph, nullptr, 0, &with) != CUDA_SUCCESS) return false;
  graph.nodes.push_back(node);
  const generator::Extent3 cluster = kernel.cluster();
  if (cluster[0] * cluster[1] * cluster[2] > 1) {
    CUlaunchAttributeValue value{};
    value.cluster = {cluster[0], cluster[1], cluster[2]};
    if (api.cuGraphKernelNodeSetAttribute(node, kLaunchAttributeCluster, &value) != CUDA_SUCCESS) return false;
  }
  if (i == 0) return true;
  CUgraphEdgeData edge{};
  if (kernel.overlaps()) edge.from_port = edge.type = 1;  // like a programmatic launch on a stream
  return api.cuGraphAddDependencies(graph.graph, &graph.nodes[i - 1], &node, &edge, 1) == CUDA_SUCCESS;
}

bool LaunchList::make(Graph& graph) {
  const DriverApi& api = driver();
  graph.items = items_, graph.values = values_;
  if (api.cuGraphCreate(&graph.graph, 0) != CUDA_SUCCESS) return false;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (!add_node(graph, i)) return false;
  return api.cuGraphInstantiate(&graph.exec, graph.graph, 0) == CUDA_SUCCESS;
}

bool LaunchList::update(Graph& graph) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& now = items_[i];
    Item& before = graph.items[i];
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(now.first);
    const auto to = graph.values.begin() + static_cast<std::ptrdiff_t>(before.first);
    const auto count = static_cast<std::ptrdiff_t>(now.count);
    if (now.grid == before.grid && std::equal(from, from + count, to)) continue;
    const CUkernelNodeParams with = params(now);
    if (driver().cuGraphExecKernelNodeSetParams(graph.exec, graph.nodes[i], &with) != CUDA_SUCCESS) return false;
    before.grid = now.grid;
    std::copy(from, from + count, to);
  }
  return true;
}

}  // namespace fourtune::runtime::cuda
