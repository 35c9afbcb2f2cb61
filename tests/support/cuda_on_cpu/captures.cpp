// CUDA's captures of streams, on the CPU. A forbidden call makes a capture invalid, as on a GPU: all that comes after
// it is refused, and the end of the capture gives no graph.
#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/stream_state.h"

namespace gpubench::cuda_on_cpu {
namespace {

/// Those that have not ended. Never destroyed, as the streams.
std::vector<Capture*>& captures() {
  static auto& all = *new std::vector<Capture*>;
  return all;
}

bool is_of_this_thread(const Capture& capture) {
  return capture.mode == cudaStreamCaptureModeRelaxed || capture.thread == std::this_thread::get_id();
}

/// Whether calls of this thread that may wait for a GPU are forbidden by the capture.
bool forbids(const Capture& capture) {
  if (capture.mode == cudaStreamCaptureModeRelaxed) return false;
  return capture.mode == cudaStreamCaptureModeGlobal || is_of_this_thread(capture);
}

/// Whether the legacy stream of the GPU would wait for a stream that is captured.
bool blocks_legacy(const Capture& capture, int gpu) {
  const auto blocks = [gpu](const CUstream_st& stream) { return stream.blocks && stream.gpu == gpu; };
  return blocks(*capture.origin) ||
         std::ranges::any_of(capture.branches, [&](const auto& branch) { return blocks(*branch.first); });
}

cudaStreamCaptureStatus status_of(const CUstream_st& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

}  // namespace

cudaError_t invalidate(Capture& capture, cudaError_t error) {
  capture.is_invalid = true;
  return error;
}

cudaError_t unless_capturing() {
  const auto lock = lock_streams();
  cudaError_t refused = cudaSuccess;
  for (Capture* const capture : captures()) {
    if (forbids(*capture)) refused = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return refused == cudaSuccess ? cudaSuccess : result(refused);
}

cudaError_t unless_implicit(const CUstream_st& stream) {
  cudaError_t refused = cudaSuccess;
  for (Capture* const capture : captures()) {
    if (stream.is_legacy && blocks_legacy(*capture, stream.gpu)) {
      refused = invalidate(*capture, cudaErrorStreamCaptureImplicit);
    }
  }
  return refused;
}

cudaError_t refusal_of(CUstream_st& stream) {
  const bool is_lost = lost_with(stream.gpu) != cudaSuccess;
  if (stream.capture != nullptr && (is_lost || stream.capture->is_invalid)) return cudaErrorStreamCaptureInvalidated;
  return is_lost ? lost_with(stream.gpu) : unless_implicit(stream);
}

cudaError_t refusal_to_wait(CUstream_st& stream) {
  if (stream.capture != nullptr) {
    if (stream.capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
    return invalidate(*stream.capture, cudaErrorStreamCaptureUnsupported);
  }
  const cudaError_t refused = unless_implicit(stream);
  return refused != cudaSuccess ? refused : unless_capturing();
}

void add_node(CUstream_st& stream, StepMaker make) {
  auto node = std::make_shared<CUgraphNode_st>(CUgraphNode_st{.make = std::move(make), .after = stream.ends});
  for (const CUgraphNode_st* const earlier : node->after) node->depth = std::max(node->depth, earlier->depth + 1);
  stream.ends = {node.get()};
  stream.capture->graph->nodes.push_back(std::move(node));
  const auto branch = stream.capture->branches.find(&stream);
  if (branch != stream.capture->branches.end()) ++branch->second.queued;
}

void come_after(std::vector<cudaGraphNode_t>& ends, const std::vector<cudaGraphNode_t>& more) {
  for (cudaGraphNode_t const node : more) {
    if (std::ranges::find(ends, node) == ends.end()) ends.push_back(node);
  }
}

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const auto lock = lock_streams();
  CUstream_st& stream = stream_of(handle);
  if (lost_with(stream.gpu) != cudaSuccess) return result(lost_with(stream.gpu));
  if (stream.is_legacy) return result(cudaErrorStreamCaptureUnsupported);
  if (stream.capture != nullptr) return result(cudaErrorIllegalState);
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->thread = std::this_thread::get_id();
  stream.capture->mode = mode;
  stream.capture->graph = std::make_unique<CUgraph_st>();
  stream.ends.clear();
  captures().push_back(stream.capture.get());
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  const auto lock = lock_streams();
  CUstream_st& stream = stream_of(handle);
  *graph = nullptr;
  if (stream.capture == nullptr) return result(cudaErrorIllegalState);
  if (stream.capture->origin != &stream) return result(cudaErrorStreamCaptureUnmatched);
  if (!is_of_this_thread(*stream.capture)) return result(cudaErrorStreamCaptureWrongThread);
  const std::shared_ptr<Capture> capture = std::exchange(stream.capture, nullptr);
  capture->has_ended = true;
  std::erase(captures(), capture.get());
  bool joined = true;
  for (const auto& [other, branch] : capture->branches) {
    other->capture = nullptr;
    joined = joined && branch.joined == branch.queued;
  }
  if (capture->is_invalid) return result(cudaErrorStreamCaptureInvalidated);
  if (!joined) return result(cudaErrorStreamCaptureUnjoined);
  if (lost_with(stream.gpu) == cudaSuccess) *graph = capture->graph.release();
  return result(cudaSuccess, stream.gpu);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const auto lock = lock_streams();
  const CUstream_st& stream = stream_of(handle);
  if (const cudaError_t refused = unless_implicit(stream); refused != cudaSuccess) return result(refused);
  *status = status_of(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  const auto lock = lock_streams();
  const CUstream_st& stream = stream_of(handle);
  *status = status_of(stream);
  if (*status != cudaStreamCaptureStatusActive) return result(cudaSuccess, stream.gpu);
  if (id != nullptr) *id = 1;
  if (graph != nullptr) *graph = stream.capture->graph.get();
  if (nodes != nullptr) *nodes = stream.ends.data();
  if (edges != nullptr) *edges = nullptr;  // all edges wait for the whole node
  if (count != nullptr) *count = stream.ends.size();
  return result(cudaSuccess, stream.gpu);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* nodes, const cudaGraphEdgeData*,
                                                std::size_t count, unsigned flags) {
  const auto lock = lock_streams();
  CUstream_st& stream = stream_of(handle);
  if (stream.capture == nullptr) return result(cudaErrorIllegalState);
  if (nodes == nullptr || count == 0) return result(cudaErrorInvalidValue);
  if (const cudaError_t refused = refusal_of(stream); refused != cudaSuccess) return result(refused);
  if (flags == cudaStreamSetCaptureDependencies) stream.ends.clear();
  come_after(stream.ends, {nodes, nodes + count});
  return cudaSuccess;
}
}

}  // namespace gpubench::cuda_on_cpu
