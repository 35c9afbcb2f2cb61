// cuDNN's functions, loaded when the first kernel needs them: nothing links against the library, so one program also
// runs on machines without it. A device's cuDNN handle, and owners for what cuDNN creates.
#pragma once
#include <cudnn.h>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct CudnnFunctions {
  decltype(&cudnnGetVersion) get_version;
  decltype(&cudnnGetErrorString) get_error_string;
  decltype(&cudnnGetLastErrorString) get_last_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;

  decltype(&cudnnCreateTensorDescriptor) create_tensor_descriptor;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor_descriptor;
  decltype(&cudnnSetTensor4dDescriptor) set_tensor_4d_descriptor;
  decltype(&cudnnSoftmaxForward) softmax_forward;
  decltype(&cudnnSoftmaxBackward) softmax_backward;

  decltype(&cudnnBackendCreateDescriptor) backend_create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) backend_destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) backend_set_attribute;
  decltype(&cudnnBackendGetAttribute) backend_get_attribute;
  decltype(&cudnnBackendFinalize) backend_finalize;
  decltype(&cudnnBackendExecute) backend_execute;
};

/// Opens the library at the first call. Throws Error with the places that were searched and what to install.
const CudnnFunctions& cudnn();

/// "9.19.0"; throws as cudnn().
std::string cudnn_version();

/// cuDNN's name of the status, and its text of the last error if it has one.
std::string cudnn_reason(cudnnStatus_t status);
/// Throws DeviceError with the call and the reason, or DeviceLost if this process can no longer use the GPU.
void check(cudnnStatus_t status, std::string_view call);

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
