#include "core/backend/cuda/cuda_stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/backend/cuda/gpu_context.h"
#include "core/backend/cuda/status.h"
#include "core/base/error.h"

namespace gpubench::cuda {
namespace {

class CudaGraph final : public Recording {
 public:
  explicit CudaGraph(cudaGraph_t graph) { check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate"); }
  ~CudaGraph() override {
    select_gpu_if_none(gpu_);
    static_cast<void>(cudaGraphExecDestroy(executable_));
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch(Stream& stream) override {
    select_gpu_if_none(gpu_);
    check(cudaGraphLaunch(executable_, handle_of(stream)), "cudaGraphLaunch");
  }

 private:
  int gpu_ = current_gpu();
  cudaGraphExec_t executable_ = nullptr;
};

/// The nodes after which a stream's next work comes, in the graph that the stream is captured into.
struct Ends {
  std::vector<cudaGraphNode_t> nodes;
  std::vector<cudaGraphEdgeData> edges;  // how the work waits for each
};

/// Ends the capture of a stream in its destructor at the latest; destroys a graph that was not taken.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    // Other threads may go on with calls that a capture forbids.
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  ~Capture() {
    if (!ended_) static_cast<void>(cudaStreamEndCapture(stream_, &graph_));
    if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  Ends ends() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    check(cudaStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &nodes, &edges, &count),
          "cudaStreamGetCaptureInfo");
    if (edges == nullptr) return {{nodes, nodes + count}, std::vector<cudaGraphEdgeData>(count)};
    return {{nodes, nodes + count}, {edges, edges + count}};
  }

  /// The next work comes after these, and after nothing else.
  void go_on_after(Ends ends) {
    check(cudaStreamUpdateCaptureDependencies(stream_, ends.nodes.data(), ends.edges.data(), ends.nodes.size(),
                                              cudaStreamSetCaptureDependencies),
          "cudaStreamUpdateCaptureDependencies");
  }

  cudaGraph_t end() {
    ended_ = true;
    check(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture");
    return graph_;
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  bool ended_ = false;
};

/// Without the nodes that are there already: pieces that queue nothing end where others do.
void append(Ends& all, const Ends& more) {
  for (std::size_t n = 0; n < more.nodes.size(); ++n) {
    if (std::ranges::find(all.nodes, more.nodes[n]) != all.nodes.end()) continue;
    all.nodes.push_back(more.nodes[n]);
    all.edges.push_back(more.edges[n]);
  }
}

/// Work that could come at once comes after the first piece, so that the graph has one root.
void queue_in_branches(Capture& capture, CudaStream& recorder, std::span<const RecordedWork> work) {
  const std::vector<std::vector<std::size_t>> order = predecessors(work);
  std::vector<Ends> ends;  // by piece
  ends.reserve(work.size());
  for (std::size_t piece = 0; piece < work.size(); ++piece) {
    Ends before;
    for (const std::size_t earlier : order[piece]) append(before, ends[earlier]);
    if (before.nodes.empty() && piece > 0) before = ends.front();
    if (!before.nodes.empty()) capture.go_on_after(std::move(before));
    work[piece].queue(recorder);
    ends.push_back(capture.ends());
  }
}

}  // namespace

CudaEvent::CudaEvent(bool timed) : gpu_(current_gpu()) {
  check(cudaEventCreateWithFlags(&handle_, timed ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
}

CudaEvent::~CudaEvent() {
  select_gpu_if_none(gpu_);
  static_cast<void>(cudaEventDestroy(handle_));
}

bool CudaEvent::ready() const {
  select_gpu_if_none(gpu_);
  const cudaError_t status = cudaEventQuery(handle_);
  if (status == cudaErrorNotReady) return false;
  check(status, "cudaEventQuery");
  return true;
}

void CudaEvent::wait() const {
  select_gpu_if_none(gpu_);
  check(cudaEventSynchronize(handle_), "cudaEventSynchronize");
}

Seconds CudaEvent::since(const Event& earlier) const {
  select_gpu_if_none(gpu_);
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<const CudaEvent&>(earlier).handle_, handle_),
        "cudaEventElapsedTime");
  return Seconds(milliseconds / 1e3);
}

CudaStream::CudaStream() : gpu_(current_gpu()) {
  check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
  select_gpu_if_none(gpu_);
  static_cast<void>(cudaStreamDestroy(handle_));
}

void CudaStream::record(Event& event) {
  select_gpu_if_none(gpu_);
  check(cudaEventRecord(static_cast<CudaEvent&>(event).handle(), handle_), "cudaEventRecord");
}

void CudaStream::wait_for(const Event& event) {
  select_gpu_if_none(gpu_);
  if (const auto* const mark = dynamic_cast<const CudaEvent*>(&event)) {
    check(cudaStreamWaitEvent(handle_, mark->handle(), 0), "cudaStreamWaitEvent");
  } else {
    event.wait();  // of a device whose work the host does itself
  }
}

void CudaStream::copy(void* destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  select_gpu_if_none(gpu_);
  check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, handle_), "cudaMemcpyAsync");
}

void CudaStream::synchronize() {
  select_gpu_if_none(gpu_);
  check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

std::unique_ptr<Recording> record_graph(CudaStream& recorder, std::span<const RecordedWork> work) {
  try {
    Capture capture(recorder.handle());
    queue_in_branches(capture, recorder, work);
    return std::make_unique<CudaGraph>(capture.end());
  } catch (const DeviceLost&) {
    throw;
  } catch (const DeviceError&) {
    // A GPU that is lost meanwhile makes the capture invalid, which is all that the failed call reports.
    const cudaError_t status = cudaStreamQuery(recorder.handle());
    if (is_sticky(status)) check(status, "the recording of a graph");
    throw;
  }
}

}  // namespace gpubench::cuda
