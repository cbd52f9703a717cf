#include "runtime/backends/cuda/captured_call.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "runtime/backends/cuda/stream_order.h"

namespace fourtune::runtime::cuda {
namespace {

constexpr std::uint64_t kSameKernels = 256;  // bytes: arrays of cuMemAlloc begin at multiples of it
// How far from the arrays those of the second recording are. In an array both would differ alike, so they differ.
constexpr std::uint64_t kShiftIn = 12 * kSameKernels, kShiftOut = 20 * kSameKernels;

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
void* moved(void* pointer, std::uint64_t bytes) { return static_cast<std::byte*>(pointer) + bytes; }

// A graph that was recorded, and no owner has.
class Recording {
 public:
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  Recording(const Stream& stream, const CapturedCall::Call& call, void* in, void* out) {
    constexpr int kRelaxed = 2;  // calls of other threads are none of this recording's business
    const DriverApi& api = driver();
    if (api.cuStreamBeginCapture(stream.get(), kRelaxed) != CUDA_SUCCESS) return;
    bool whole = true;
    try {
      call(in, out, stream.get());
    } catch (const std::exception&) {  // the caller's own call will say why
      whole = false;
    }
    if (api.cuStreamEndCapture(stream.get(), &graph_) != CUDA_SUCCESS || !whole) drop();
  }
  ~Recording() { drop(); }
  CUgraph graph() const { return graph_; }
  CUgraph release() { return std::exchange(graph_, nullptr); }

 private:
  void drop() {
    if (graph_) driver().cuGraphDestroy(graph_);
    graph_ = nullptr;
  }
  CUgraph graph_ = nullptr;
};

// Where parameter i of a kernel begins, and its size; false: there is none.
bool parameter(const CUkernelNodeParams& with, std::size_t i, std::size_t& start, std::size_t& size) {
  const DriverApi& api = driver();
  const CUresult result = with.function ? api.cuFuncGetParamInfo(with.function, i, &start, &size)
                                        : api.cuKernelGetParamInfo(with.kernel, i, &start, &size);
  return result == CUDA_SUCCESS;
}

}  // namespace

CapturedCall::~CapturedCall() { drop(); }

void CapturedCall::drop() noexcept {
  if (exec_) driver().cuGraphExecDestroy(exec_);
  if (graph_) driver().cuGraphDestroy(graph_);
  exec_ = nullptr, graph_ = nullptr;
}

bool CapturedCall::start(const std::shared_ptr<const Device>& device, const Call& call, void* in, void* out,
                         CUstream stream) {
  if (refused_ || !driver().has_captures || ++calls_ == 1) return false;
  if (!exec_) {
    in_ = number(in), out_ = number(out);
    refused_ = !record(device, call);
  }
  if (refused_ || (number(in) - in_) % kSameKernels != 0 || (number(out) - out_) % kSameKernels != 0) return false;
  if (!move_to(number(in), number(out))) {
    drop();
    refused_ = true;
    return false;
  }
  check(driver().cuGraphLaunch(exec_, stream), "launching a library's graph");
  return true;
}

namespace {

// The graph's kernels with the values of their parameters; empty if it has anything else.
template <class Node>
std::vector<Node> kernels_of(CUgraph graph) {
  constexpr int kKernel = 0;
  constexpr std::size_t kMost = 64;
  const DriverApi& api = driver();
  std::vector<CUgraphNode> all(kMost);
  std::size_t count = kMost;
  if (!graph || api.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS || count == 0 || count > kMost ||
      api.cuGraphGetNodes(graph, all.data(), &count) != CUDA_SUCCESS)
    return {};
  std::vector<Node> nodes(count);
  for (std::size_t i = 0; i < count; ++i) {
    Node& node = nodes[i];
    node.node = all[i];
    int type = -1;
    if (api.cuGraphNodeGetType(all[i], &type) != CUDA_SUCCESS || type != kKernel ||
        api.cuGraphKernelNodeGetParams(all[i], &node.with) != CUDA_SUCCESS || !node.with.arguments)
      return {};
    std::size_t start = 0, size = 0;
    for (std::size_t p = 0; parameter(node.with, p, start, size); ++p) {
      node.starts.push_back(node.bytes.size());
      const auto* const value = static_cast<const std::byte*>(node.with.arguments[p]);
      node.bytes.insert(node.bytes.end(), value, value + size);
    }
  }
  return nodes;
}

}  // namespace

bool CapturedCall::record(const std::shared_ptr<const Device>& device, const Call& call) {
  const RelaxedCapture allowed;
  const Stream stream(device);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the caller's pointers
  void *const in = reinterpret_cast<void*>(in_), *const out = reinterpret_cast<void*>(out_);
  const bool in_place = in == out;
  Recording here(stream, call, in, out);
  const Recording there(stream, call, moved(in, kShiftIn), moved(out, in_place ? kShiftIn : kShiftOut));
  const Recording again(stream, call, in, out);
  nodes_ = kernels_of<Node>(here.graph());
  if (nodes_.empty() || !find_addresses(kernels_of<Node>(there.graph()), kernels_of<Node>(again.graph()))) return false;
  graph_ = here.release();
  return driver().cuGraphInstantiate(&exec_, graph_, 0) == CUDA_SUCCESS;
}

// Parameters are compared eight bytes at a time, at multiples of eight bytes of each, as addresses lie in them.
bool CapturedCall::find_addresses(const std::vector<Node>& shifted, const std::vector<Node>& again) {
  if (shifted.size() != nodes_.size() || again.size() != nodes_.size()) return false;
  const auto equal = [](const unsigned(&a)[3], const unsigned(&b)[3]) { return std::equal(a, a + 3, b); };
  const auto same_launch = [&](const Node& a, const Node& b) {
    return a.with.function == b.with.function && a.with.kernel == b.with.kernel && a.starts == b.starts &&
           a.bytes.size() == b.bytes.size() && a.with.shared_bytes == b.with.shared_bytes &&
           equal(a.with.grid, b.with.grid) && equal(a.with.block, b.with.block);
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node &here = nodes_[i], &there = shifted[i];
    if (!same_launch(here, there) || !same_launch(here, again[i])) return false;
    for (std::size_t p = 0; p < here.starts.size(); ++p) {
      const std::size_t end = p + 1 < here.starts.size() ? here.starts[p + 1] : here.bytes.size();
      for (std::size_t place = here.starts[p]; place < end; place += 8) {
        const std::size_t size = std::min<std::size_t>(8, end - place);
        std::uint64_t a = 0, b = 0, c = 0;
        std::memcpy(&a, &here.bytes[place], size), std::memcpy(&b, &there.bytes[place], size);
        std::memcpy(&c, &again[i].bytes[place], size);
        if (a == b || a != c) continue;
        const bool of_output = b - a == kShiftOut;
        if (size < 8 || (!of_output && b - a != kShiftIn)) return false;
        addresses_.push_back({i, place, of_output, a - (of_output ? out_ : in_)});
      }
    }
  }
  return !addresses_.empty();
}

bool CapturedCall::move_to(std::uint64_t in, std::uint64_t out) {
  if (in == in_ && out == out_) return true;
  in_ = in, out_ = out;
  std::vector<void*> values;
  for (std::size_t i = 0, next = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    const std::size_t first = next;
    for (; next < addresses_.size() && addresses_[next].node == i; ++next) {
      const std::uint64_t address = (addresses_[next].of_output ? out : in) + addresses_[next].offset;
      std::memcpy(&node.bytes[addresses_[next].place], &address, sizeof address);
    }
    if (next == first) continue;
    values.clear();
    for (const std::size_t start : node.starts) values.push_back(&node.bytes[start]);
    CUkernelNodeParams with = node.with;
    with.arguments = values.data();
    if (driver().cuGraphExecKernelNodeSetParams(exec_, node.node, &with) != CUDA_SUCCESS) return false;
  }
  return true;
}

}  // namespace fourtune::runtime::cuda
