// CUDA's captures and graphs, on the CPU.
#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/stream_state.h"

struct CUgraphExec_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

namespace gpubench::cuda_on_cpu {
namespace {

std::atomic<std::size_t> graph_count{0}, graph_depth{0};

/// A legal order: a random one with a seed. Without one the node that was captured last comes first where it may, which
/// is as far from the host's order as it can be.
std::vector<const CUgraphNode_st*> order_of(const CUgraphExec_st& graph) {
  std::map<const CUgraphNode_st*, std::vector<const CUgraphNode_st*>> followers;
  std::map<const CUgraphNode_st*, std::size_t> missing;
  std::vector<const CUgraphNode_st*> ready, order;
  for (const auto& node : graph.nodes) {
    missing[node.get()] = node->after.size();
    for (const CUgraphNode_st* const earlier : node->after) followers[earlier].push_back(node.get());
    if (node->after.empty()) ready.push_back(node.get());
  }
  while (!ready.empty()) {
    std::minstd_rand* const random = chance();
    const std::size_t chosen = random == nullptr ? ready.size() - 1 : (*random)() % ready.size();
    const CUgraphNode_st* const node = ready[chosen];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
    order.push_back(node);
    for (const CUgraphNode_st* const follower : followers[node]) {
      if (--missing[follower] == 0) ready.push_back(follower);
    }
  }
  return order;
}

/// A graph that is launched into a captured stream becomes part of that graph.
void queue_node(cudaStream_t stream, const CUgraphNode_st& node) {
  if (stream->capture != nullptr)
    add_node(*stream, node.make);
  else
    add_waiting(*stream, node.make);
}

}  // namespace

cudaError_t load_kernel(const void* kernel) {
  static auto& loaded = *new std::set<std::pair<int, const void*>>;
  const auto lock = lock_streams();
  const std::pair here{gpu_of_thread(), kernel};
  if (loaded.contains(here)) return cudaSuccess;
  if (is_capturing()) return result(cudaErrorStreamCaptureUnsupported);
  loaded.insert(here);
  return cudaSuccess;
}

void add_node(CUstream_st& stream, StepMaker make) {
  auto node = std::make_shared<CUgraphNode_st>(CUgraphNode_st{.make = std::move(make), .after = stream.ends});
  for (const CUgraphNode_st* const earlier : node->after) node->depth = std::max(node->depth, earlier->depth + 1);
  stream.ends = {node.get()};
  stream.capture->nodes.push_back(std::move(node));
  const auto branch = stream.capture->branches.find(&stream);
  if (branch != stream.capture->branches.end()) ++branch->second.queued;
}

void come_after(std::vector<cudaGraphNode_t>& ends, const std::vector<cudaGraphNode_t>& more) {
  for (cudaGraphNode_t const node : more) {
    if (std::ranges::find(ends, node) == ends.end()) ends.push_back(node);
  }
}

std::size_t graphs_made() {
  return graph_count;
}
std::size_t depth_of_latest_graph() {
  return graph_depth;
}

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const auto lock = lock_streams();
  if (lost_with() != cudaSuccess) return result(lost_with());
  if (stream->capture != nullptr) return result(cudaErrorIllegalState);
  stream->capture = new CUgraph_st;
  stream->ends.clear();
  ++captures_of_thread();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = std::exchange(stream->capture, nullptr);
  --captures_of_thread();
  bool joined = true;
  for (const auto& [other, branch] : (*graph)->branches) {
    other->capture = nullptr;
    joined = joined && branch.joined == branch.queued;
  }
  return result(joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const auto lock = lock_streams();
  *status = stream->capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  const auto lock = lock_streams();
  *status = stream->capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  if (stream->capture == nullptr) return result(cudaSuccess);
  if (id != nullptr) *id = 1;
  if (graph != nullptr) *graph = stream->capture;
  if (nodes != nullptr) *nodes = stream->ends.data();
  if (edges != nullptr) *edges = nullptr;  // all edges wait for the whole node
  if (count != nullptr) *count = stream->ends.size();
  return result(cudaSuccess);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData*,
                                                std::size_t count, unsigned flags) {
  const auto lock = lock_streams();
  if (stream->capture == nullptr) return result(cudaErrorIllegalState);
  if (nodes == nullptr || count == 0) return result(cudaErrorInvalidValue);
  if (flags == cudaStreamSetCaptureDependencies) stream->ends.clear();
  come_after(stream->ends, {nodes, nodes + count});
  return result(cudaSuccess);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const auto lock = lock_streams();
  if (lost_with() != cudaSuccess) return result(lost_with());
  ++graph_count;
  graph_depth = 0;
  for (const auto& node : graph->nodes) graph_depth = std::max(graph_depth.load(), node->depth);
  *executable = new CUgraphExec_st{graph->nodes};
  return result(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const auto lock = lock_streams();
  run_all_streams();
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const auto lock = lock_streams();
  if (lost_with() != cudaSuccess) return result(lost_with());
  count_launch();
  for (const CUgraphNode_st* const node : order_of(*executable)) queue_node(stream, *node);
  return cudaSuccess;
}
}

}  // namespace gpubench::cuda_on_cpu
