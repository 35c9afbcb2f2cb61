// The table of cuDNN's functions, handles, and elements of tensors.
#include "tests/support/cuda_on_cpu/dnn.h"

#include <algorithm>
#include <cstring>

#include "core/math/half.h"
#include "tests/support/cuda_on_cpu/dnn_library.h"
#include "tests/support/cuda_on_cpu/queue.h"

namespace gpubench::cuda_on_cpu {
namespace {

thread_local std::string last_error;

}  // namespace

cudnnStatus_t refused(cudnnStatus_t status, std::string why) {
  last_error = std::move(why);
  return status;
}

cudnnStatus_t queue(cudnnHandle_t handle, std::function<void()> work, double milliseconds) {
  const LibraryRuntime own;
  const cudaError_t status = queue(handle->stream, std::move(work), milliseconds);
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS : refused(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "CUDA failed");
}

std::size_t element_bytes(cudnnDataType_t type) {
  return type == CUDNN_DATA_FLOAT ? 4 : 2;
}

double load(const void* data, cudnnDataType_t type, std::int64_t at) {
  const auto* const bytes = static_cast<const std::byte*>(data) + static_cast<std::size_t>(at) * element_bytes(type);
  float value = 0;
  if (type == CUDNN_DATA_FLOAT) {
    std::memcpy(&value, bytes, sizeof(value));
  } else if (type == CUDNN_DATA_HALF) {
    math::Float16 half;
    std::memcpy(&half, bytes, sizeof(half));
    value = math::to_float(half);
  } else {
    math::Bfloat16 half;
    std::memcpy(&half, bytes, sizeof(half));
    value = math::to_float(half);
  }
  return static_cast<double>(value);
}

void store(void* data, cudnnDataType_t type, std::int64_t at, double value) {
  auto* const bytes = static_cast<std::byte*>(data) + static_cast<std::size_t>(at) * element_bytes(type);
  const auto single = static_cast<float>(value);
  if (type == CUDNN_DATA_FLOAT) {
    std::memcpy(bytes, &single, sizeof(single));
  } else if (type == CUDNN_DATA_HALF) {
    const math::Float16 half = math::to_float16(single);
    std::memcpy(bytes, &half, sizeof(half));
  } else {
    const math::Bfloat16 half = math::to_bfloat16(single);
    std::memcpy(bytes, &half, sizeof(half));
  }
}

extern "C" {

std::size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return "CUDNN_STATUS_SUCCESS";
  if (status == CUDNN_STATUS_BAD_PARAM) return "CUDNN_STATUS_BAD_PARAM";
  if (status == CUDNN_STATUS_NOT_SUPPORTED) return "CUDNN_STATUS_NOT_SUPPORTED";
  return "a status of the cuDNN that runs on the CPU";
}
void cudnnGetLastErrorString(char* message, std::size_t max_size) {
  const std::size_t length = std::min(last_error.size(), max_size - 1);
  std::memcpy(message, last_error.data(), length);
  message[length] = '\0';
  last_error.clear();
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  static_cast<void>(cudaGetDevice(&(*handle)->gpu));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return refused(CUDNN_STATUS_BAD_PARAM, "no handle");
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
}

const cuda::CudnnFunctions& dnn_functions() {
  static const cuda::CudnnFunctions functions{.get_version = &cudnnGetVersion,
                                              .get_error_string = &cudnnGetErrorString,
                                              .get_last_error_string = &cudnnGetLastErrorString,
                                              .create = &cudnnCreate,
                                              .destroy = &cudnnDestroy,
                                              .set_stream = &cudnnSetStream,
                                              .create_tensor_descriptor = &cudnnCreateTensorDescriptor,
                                              .destroy_tensor_descriptor = &cudnnDestroyTensorDescriptor,
                                              .set_tensor_4d_descriptor = &cudnnSetTensor4dDescriptor,
                                              .softmax_forward = &cudnnSoftmaxForward,
                                              .softmax_backward = &cudnnSoftmaxBackward,
                                              .backend_create_descriptor = &cudnnBackendCreateDescriptor,
                                              .backend_destroy_descriptor = &cudnnBackendDestroyDescriptor,
                                              .backend_set_attribute = &cudnnBackendSetAttribute,
                                              .backend_get_attribute = &cudnnBackendGetAttribute,
                                              .backend_finalize = &cudnnBackendFinalize,
                                              .backend_execute = &cudnnBackendExecute};
  return functions;
}

}  // namespace gpubench::cuda_on_cpu
