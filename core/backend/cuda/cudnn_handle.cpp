#include "core/backend/cuda/cudnn_handle.h"

namespace gpubench::cuda {

CudnnHandle::CudnnHandle() {
  check(cudnn().create(&handle_), "cudnnCreate");
}

CudnnHandle::~CudnnHandle() {
  static_cast<void>(cudnn().destroy(handle_));
}

cudnnDataType_t cudnn_type(Dtype dtype) {
  if (dtype == Dtype::f16) return CUDNN_DATA_HALF;
  if (dtype == Dtype::bf16) return CUDNN_DATA_BFLOAT16;
  return CUDNN_DATA_FLOAT;
}

}  // namespace gpubench::cuda
