// Opens cuDNN. Apart from cudnn.cpp, because tests put a cuDNN that runs on the CPU in this file's place.
#include <cuda_runtime_api.h>
#include <memory>

#include "core/backend/cuda/cudnn.h"
#include "core/nvidia/gpu_library.h"

namespace gpubench::cuda {
namespace {

/// Never closed: the library's own threads and GPU memory outlive our last call.
const SharedLibrary& library() {
  static const SharedLibrary& opened =
      *std::make_unique<SharedLibrary>(require_gpu_library(cudnn_library, CUDART_VERSION)).release();
  return opened;
}

CudnnFunctions bind(const SharedLibrary& from) {
  CudnnFunctions to{};
  from.bind(to.get_version, "cudnnGetVersion");
  from.bind(to.get_error_string, "cudnnGetErrorString");
  from.bind(to.get_last_error_string, "cudnnGetLastErrorString");
  from.bind(to.create, "cudnnCreate");
  from.bind(to.destroy, "cudnnDestroy");
  from.bind(to.set_stream, "cudnnSetStream");
  from.bind(to.create_tensor_descriptor, "cudnnCreateTensorDescriptor");
  from.bind(to.destroy_tensor_descriptor, "cudnnDestroyTensorDescriptor");
  from.bind(to.set_tensor_4d_descriptor, "cudnnSetTensor4dDescriptor");
  from.bind(to.softmax_forward, "cudnnSoftmaxForward");
  from.bind(to.softmax_backward, "cudnnSoftmaxBackward");
  from.bind(to.backend_create_descriptor, "cudnnBackendCreateDescriptor");
  from.bind(to.backend_destroy_descriptor, "cudnnBackendDestroyDescriptor");
  from.bind(to.backend_set_attribute, "cudnnBackendSetAttribute");
  from.bind(to.backend_get_attribute, "cudnnBackendGetAttribute");
  from.bind(to.backend_finalize, "cudnnBackendFinalize");
  from.bind(to.backend_execute, "cudnnBackendExecute");
  return to;
}

}  // namespace

const CudnnFunctions& cudnn() {
  static const CudnnFunctions functions = bind(library());
  return functions;
}

}  // namespace gpubench::cuda
