// CUDA's streams, events and graphs behind the interfaces of core/device. They may be used and destroyed by threads
// that have selected no GPU: those select theirs.
#pragma once
#include <cuda_runtime_api.h>
#include <memory>
#include <span>

#include "core/device/stream.h"
#include "core/device/work_order.h"

namespace gpubench::cuda {

class CudaEvent final : public Event {
 public:
  /// An event on the calling thread's GPU; since() needs two that are timed.
  explicit CudaEvent(bool timed);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  bool ready() const override;
  void wait() const override;
  Seconds since(const Event& earlier) const override;
  cudaEvent_t handle() const { return handle_; }

 private:
  int gpu_;
  cudaEvent_t handle_ = nullptr;
};

class CudaStream final : public Stream {
 public:
  /// A stream on the calling thread's GPU that does not synchronize with the default stream.
  CudaStream();
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void record(Event& event) override;
  void wait_for(const Event& event) override;
  void copy(void* destination, const void* source, std::size_t bytes) override;
  void synchronize() override;
  cudaStream_t handle() const { return handle_; }

 private:
  int gpu_;
  cudaStream_t handle_ = nullptr;
};

/// The CUDA stream for launches.
inline cudaStream_t handle_of(Stream& stream) {
  return static_cast<CudaStream&>(stream).handle();
}

/// Records the pieces on the idle stream `recorder` as a CUDA graph that branches: each waits for its predecessors()
/// alone. Libraries may keep the recorder as their handle's stream, so it must outlive them.
std::unique_ptr<Recording> record_graph(CudaStream& recorder, std::span<const RecordedWork> work);

}  // namespace gpubench::cuda
