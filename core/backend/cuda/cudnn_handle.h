// A device's cuDNN handle, and owners for what cuDNN creates.
#pragma once
#include <mutex>
#include <string_view>
#include <utility>

#include "core/backend/cuda/cudnn.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// Serializes use: a cuDNN handle takes one thread at a time, and queues on the stream that was set last.
class CudnnHandle {
 public:
  /// For the calling thread's GPU; allocates memory there.
  CudnnHandle();
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;

  /// call(handle) queues on `stream` and returns cuDNN's status; throws DeviceError naming `what` on failure.
  template <class Call>
  void queue(cudaStream_t stream, std::string_view what, const Call& call) {
    const std::lock_guard lock(mutex_);
    check(cudnn().set_stream(handle_, stream), "cudnnSetStream");
    check(call(handle_), what);
  }
  /// For planning, which queues nothing; the caller must hold lock().
  cudnnHandle_t handle() const { return handle_; }
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

 private:
  std::mutex mutex_;
  cudnnHandle_t handle_ = nullptr;
};

/// Creates a cuDNN object on construction and destroys it with its owner.
template <class Handle, auto create, auto destroy>
class CudnnOwner {
 public:
  template <class... Arguments>
  explicit CudnnOwner(Arguments... arguments) {
    check((cudnn().*create)(arguments..., &handle_), "the creation of a descriptor");
  }
  ~CudnnOwner() {
    if (handle_ != nullptr) static_cast<void>((cudnn().*destroy)(handle_));
  }
  CudnnOwner(CudnnOwner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CudnnOwner& operator=(CudnnOwner&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  CudnnOwner(const CudnnOwner&) = delete;
  CudnnOwner& operator=(const CudnnOwner&) = delete;

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using TensorDescriptor = CudnnOwner<cudnnTensorDescriptor_t, &CudnnFunctions::create_tensor_descriptor,
                                    &CudnnFunctions::destroy_tensor_descriptor>;
using BackendDescriptor = CudnnOwner<cudnnBackendDescriptor_t, &CudnnFunctions::backend_create_descriptor,
                                     &CudnnFunctions::backend_destroy_descriptor>;

/// cuDNN's name of float32, float16 or bfloat16.
cudnnDataType_t cudnn_type(Dtype dtype);

}  // namespace gpubench::cuda
