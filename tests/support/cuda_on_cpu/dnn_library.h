// The functions of this cuDNN. dnn_library.cpp puts them in the place of the installed library; a test that also asks
// the installed library leaves that source out.
#pragma once
#include "core/backend/cuda/cudnn.h"

namespace gpubench::cuda_on_cpu {

const cuda::CudnnFunctions& dnn_functions();

}  // namespace gpubench::cuda_on_cpu
