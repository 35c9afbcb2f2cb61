// cuBLASLt's functions, loaded when the first product is planned: nothing links against the library, so one program
// also runs on machines without it. Also owners for its descriptors.
#pragma once
#include <cstdint>
#include <cublasLt.h>
#include <memory>
#include <string_view>

namespace gpubench::cuda {

/// The functions under their names in cublasLt.h, without the prefix.
struct CublasLt {
  decltype(cublasLtCreate)* create;
  decltype(cublasLtDestroy)* destroy;
  decltype(cublasLtGetStatusString)* get_status_string;
  decltype(cublasLtMatmul)* matmul;
  decltype(cublasLtMatmulDescCreate)* matmul_desc_create;
  decltype(cublasLtMatmulDescDestroy)* matmul_desc_destroy;
  decltype(cublasLtMatmulDescSetAttribute)* matmul_desc_set_attribute;
  decltype(cublasLtMatrixLayoutCreate)* matrix_layout_create;
  decltype(cublasLtMatrixLayoutDestroy)* matrix_layout_destroy;
  decltype(cublasLtMatrixLayoutSetAttribute)* matrix_layout_set_attribute;
  decltype(cublasLtMatmulPreferenceCreate)* preference_create;
  decltype(cublasLtMatmulPreferenceDestroy)* preference_destroy;
  decltype(cublasLtMatmulPreferenceSetAttribute)* preference_set_attribute;
  decltype(cublasLtMatmulAlgoGetHeuristic)* get_heuristic;
  decltype(cublasLtMatmulAlgoConfigGetAttribute)* algo_config_get_attribute;
};

/// Opens the library at the first call; throws Error with the places that were searched.
const CublasLt& cublaslt();

/// Throws DeviceError with the call and the library's text of the error.
void check(cublasStatus_t status, std::string_view call);

struct DestroyCublasLt {
  using pointer = cublasLtHandle_t;
  void operator()(cublasLtHandle_t handle) const { cublaslt().destroy(handle); }
};
struct DestroyMatmulDesc {
  using pointer = cublasLtMatmulDesc_t;
  void operator()(cublasLtMatmulDesc_t desc) const { cublaslt().matmul_desc_destroy(desc); }
};
struct DestroyLayout {
  using pointer = cublasLtMatrixLayout_t;
  void operator()(cublasLtMatrixLayout_t layout) const { cublaslt().matrix_layout_destroy(layout); }
};
struct DestroyPreference {
  using pointer = cublasLtMatmulPreference_t;
  void operator()(cublasLtMatmulPreference_t preference) const { cublaslt().preference_destroy(preference); }
};
using CublasLtHandle = std::unique_ptr<cublasLtContext, DestroyCublasLt>;
using MatmulDesc = std::unique_ptr<cublasLtMatmulDescOpaque_t, DestroyMatmulDesc>;
using MatrixLayout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, DestroyLayout>;
using MatmulPreference = std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, DestroyPreference>;

/// A handle for the calling thread's current GPU.
CublasLtHandle new_cublaslt_handle();

}  // namespace gpubench::cuda
