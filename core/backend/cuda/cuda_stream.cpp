#include "core/backend/cuda/cuda_stream.h"

#include "core/backend/cuda/status.h"
#include "core/base/error.h"

namespace gpubench::cuda {
namespace {

class CudaGraph final : public Recording {
 public:
  explicit CudaGraph(cudaGraph_t graph) { check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate"); }
  ~CudaGraph() override { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch(Stream& stream) override { check(cudaGraphLaunch(executable_, handle_of(stream)), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
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

}  // namespace

CudaEvent::CudaEvent(bool timed) {
  check(cudaEventCreateWithFlags(&handle_, timed ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
}

CudaEvent::~CudaEvent() {
  static_cast<void>(cudaEventDestroy(handle_));
}

bool CudaEvent::ready() const {
  const cudaError_t status = cudaEventQuery(handle_);
  if (status == cudaErrorNotReady) return false;
  check(status, "cudaEventQuery");
  return true;
}

void CudaEvent::wait() const {
  check(cudaEventSynchronize(handle_), "cudaEventSynchronize");
}

Seconds CudaEvent::since(const Event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<const CudaEvent&>(earlier).handle_, handle_),
        "cudaEventElapsedTime");
  return Seconds(milliseconds / 1e3);
}

CudaStream::CudaStream() {
  check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
  static_cast<void>(cudaStreamDestroy(handle_));
}

void CudaStream::record(Event& event) {
  check(cudaEventRecord(static_cast<CudaEvent&>(event).handle(), handle_), "cudaEventRecord");
}

void CudaStream::wait_for(const Event& event) {
  if (const auto* const mark = dynamic_cast<const CudaEvent*>(&event)) {
    check(cudaStreamWaitEvent(handle_, mark->handle(), 0), "cudaStreamWaitEvent");
  } else {
    event.wait();  // of a device whose work the host does itself
  }
}

void CudaStream::copy(void* destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, handle_), "cudaMemcpyAsync");
}

void CudaStream::synchronize() {
  check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

std::unique_ptr<Recording> record_graph(CudaStream& recorder, const std::function<void(Stream&)>& queue) {
  try {
    Capture capture(recorder.handle());
    queue(recorder);
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
