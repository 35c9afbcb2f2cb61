// cuDNN's functions, loaded when the first kernel needs them: nothing links against the library, so one program also
// runs on machines without it.
#pragma once
#include <cudnn.h>
#include <string>
#include <string_view>

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

}  // namespace gpubench::cuda
