#include "tests/support/cuda_on_cpu/dnn_library.h"

namespace gpubench::cuda {

const CudnnFunctions& cudnn() {
  return cuda_on_cpu::dnn_functions();
}

}  // namespace gpubench::cuda
