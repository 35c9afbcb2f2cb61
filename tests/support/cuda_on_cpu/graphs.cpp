// CUDA's graphs, on the CPU.
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
void queue_node(CUstream_st& stream, const CUgraphNode_st& node) {
  if (stream.capture != nullptr)
    add_node(stream, node.make);
  else
    add_waiting(stream, node.make);
}

}  // namespace

cudaError_t load_kernel(const void* kernel) {
  static auto& loaded = *new std::set<std::pair<int, const void*>>;
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  const std::pair here{gpu_of_thread(), kernel};
  if (loaded.contains(here)) return cudaSuccess;
  if (const cudaError_t refused = unless_capturing(); refused != cudaSuccess) return refused;
  loaded.insert(here);
  return cudaSuccess;
}

std::size_t graphs_made() {
  return graph_count;
}
std::size_t depth_of_latest_graph() {
  return graph_depth;
}

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (lost_with(gpu_of_thread()) != cudaSuccess) return result(lost_with(gpu_of_thread()));
  if (graph == nullptr) return result(cudaErrorInvalidValue);
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
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  CUstream_st& stream = stream_of(handle);
  if (const cudaError_t refused = refusal_of(stream); refused != cudaSuccess) return result(refused);
  count_launch();
  for (const CUgraphNode_st* const node : order_of(*executable)) queue_node(stream, *node);
  return cudaSuccess;
}
}

}  // namespace gpubench::cuda_on_cpu
