// Loads the functions of cublaslt() from the machine's library. Tests link another version of this file.
#include <cuda_runtime_api.h>

#include "core/backend/cuda/cublaslt.h"
#include "core/nvidia/gpu_library.h"

namespace gpubench::cuda {
namespace {

class Library {
 public:
  Library() {
    library_.bind(functions_.create, "cublasLtCreate");
    library_.bind(functions_.destroy, "cublasLtDestroy");
    library_.bind(functions_.get_status_string, "cublasLtGetStatusString");
    library_.bind(functions_.matmul, "cublasLtMatmul");
    library_.bind(functions_.matmul_desc_create, "cublasLtMatmulDescCreate");
    library_.bind(functions_.matmul_desc_destroy, "cublasLtMatmulDescDestroy");
    library_.bind(functions_.matmul_desc_set_attribute, "cublasLtMatmulDescSetAttribute");
    library_.bind(functions_.matrix_layout_create, "cublasLtMatrixLayoutCreate");
    library_.bind(functions_.matrix_layout_destroy, "cublasLtMatrixLayoutDestroy");
    library_.bind(functions_.matrix_layout_set_attribute, "cublasLtMatrixLayoutSetAttribute");
    library_.bind(functions_.preference_create, "cublasLtMatmulPreferenceCreate");
    library_.bind(functions_.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    library_.bind(functions_.preference_set_attribute, "cublasLtMatmulPreferenceSetAttribute");
    library_.bind(functions_.get_heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library_.bind(functions_.algo_config_get_attribute, "cublasLtMatmulAlgoConfigGetAttribute");
  }
  const CublasLt& functions() const { return functions_; }

 private:
  SharedLibrary library_ = require_gpu_library(cublaslt_library, CUDART_VERSION);
  CublasLt functions_{};
};

}  // namespace

const CublasLt& cublaslt() {
  static const Library library;
  return library.functions();
}

}  // namespace gpubench::cuda
