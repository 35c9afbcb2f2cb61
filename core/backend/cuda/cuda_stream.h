// CUDA's streams, events and graphs behind the engine's words for them.
#pragma once
#include <cuda_runtime_api.h>
#include <functional>
#include <memory>

#include "core/device/stream.h"

namespace gpubench::cuda {

class CudaEvent final : public Event {
 public:
  /// An event of the calling thread's GPU.
  CudaEvent();
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  bool ready() const override;
  void wait() const override;
  Seconds since(const Event& earlier) const override;
  cudaEvent_t handle() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

class CudaStream final : public Stream {
 public:
  /// A stream of the calling thread's GPU that waits for no other.
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
  cudaStream_t handle_ = nullptr;
};

/// What kernels launch on.
inline cudaStream_t handle_of(Stream& stream) {
  return static_cast<CudaStream&>(stream).handle();
}

/// A CUDA graph of what `queue` queues on `recorder`, an idle stream. Libraries may keep it as their handles' stream.
std::unique_ptr<Recording> record_graph(CudaStream& recorder, const std::function<void(Stream&)>& queue);

}  // namespace gpubench::cuda
