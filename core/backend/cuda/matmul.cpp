#include "core/backend/cuda/matmul.h"

#include <array>
#include <fmt/format.h>

#include "core/backend/cuda/cublaslt.h"
#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/kernels/elementwise.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/matmul_geometry.h"
#include "core/backend/cuda/refuse.h"
#include "core/math/unary.h"

namespace gpubench::cuda {
namespace {

/// What cuBLAS' own documentation advises for its workspace: 32 MiB on Hopper and later, 4 MiB before.
std::size_t largest_workspace(const GpuProperties& gpu) {
  return std::size_t{gpu.major >= 9 ? 32U : 4U} << 20U;
}

cudaDataType data_type(Dtype dtype) {
  if (dtype == Dtype::f16) return CUDA_R_16F;
  if (dtype == Dtype::bf16) return CUDA_R_16BF;
  return CUDA_R_32F;
}

MatrixLayout layout_of(const MatrixShape& shape, Dtype dtype, std::int64_t batch) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublaslt().matrix_layout_create(&made, data_type(dtype), static_cast<std::uint64_t>(shape.rows),
                                        static_cast<std::uint64_t>(shape.columns), shape.rows),
        "cublasLtMatrixLayoutCreate");
  MatrixLayout layout(made);
  if (batch == 1) return layout;
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    check(cublaslt().matrix_layout_set_attribute(made, attribute, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, shape.batch_stride);
  return layout;
}

ElementwiseLaunch activation_launch(Activation activation) {
  switch (activation) {
    case Activation::sigmoid:
      return elementwise_launch<math::Sigmoid>();
    case Activation::tanh:
      return elementwise_launch<math::Tanh>();
    case Activation::gelu:
      return elementwise_launch<math::Gelu>();
    case Activation::gelu_tanh:
      return elementwise_launch<math::GeluTanh>();
    default:
      return nullptr;
  }
}

class MatmulKernel final : public Kernel {
 public:
  MatmulKernel(const Matmul& op, const Signature& signature, CudaDevice& device)
      : handle_(device.cublaslt()),
        multiprocessors_(device.properties().multiprocessors),
        geometry_(matmul_geometry(op, signature)),
        epilogue_(matmul_epilogue(op.options)),
        element_bytes_(size_of(signature.outputs[0].dtype)) {
    const Dtype dtype = signature.outputs[0].dtype;
    describe(dtype, device.allows_tf32());
    left_ = layout_of(geometry_.left, dtype, geometry_.batch);
    right_ = layout_of(geometry_.right, dtype, geometry_.batch);
    result_ = layout_of(geometry_.result, dtype, geometry_.batch);
    choose_algorithm(op, signature, device);
    activation_ = activation_launch(epilogue_.after);
    access_.elements = signature.outputs[0].elements();
    access_.extent[0] = access_.elements;
    access_.stride[0][0] = 1;
    access_.input_types[0] = access_.output_type = dtype;
  }

  std::string_view implementation() const override { return implementation_; }
  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
           std::span<std::byte> workspace) override {
    if (epilogue_.bias) set_bias(inputs[2].data);
    for (const MatmulGeometry::Start& start : geometry_.launches) {
      const auto at = [&](const TensorView& view, std::int64_t elements) {
        return view.data + static_cast<std::size_t>(elements) * element_bytes_;
      };
      const float one = 1, zero = 0;
      std::byte* const result = at(outputs[0], start.result);
      check(cublaslt().matmul(handle_, desc_.get(), &one, at(inputs[1], start.left), left_.get(),
                              at(inputs[0], start.right), right_.get(), &zero, result, result_.get(), result,
                              result_.get(), &algorithm_, workspace.data(), workspace_bytes_, handle_of(stream)),
            "cublasLtMatmul");
    }
    if (activation_ == nullptr) return;
    const std::array<const void*, 1> in{outputs[0].data};
    check(activation_({handle_of(stream), multiprocessors_}, access_, outputs[0].data, in.data()),
          "matmul: activation");
  }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublaslt().matmul_desc_set_attribute(desc_.get(), attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  void describe(Dtype dtype, bool tf32) {
    cublasLtMatmulDesc_t made = nullptr;
    const bool in_tf32 = tf32 && dtype == Dtype::f32;
    check(cublaslt().matmul_desc_create(&made, in_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    desc_.reset(made);
    set(CUBLASLT_MATMUL_DESC_TRANSA, geometry_.transpose_left ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, geometry_.transpose_right ? CUBLAS_OP_T : CUBLAS_OP_N);
    const cublasLtEpilogue_t plain = epilogue_.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
    const cublasLtEpilogue_t biased = epilogue_.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_.bias ? biased : plain);
  }

  /// The pointer is an attribute of the descriptor; a graph's bias has one place, so this is done once in practice.
  void set_bias(const std::byte* bias) {
    if (bias == bias_) return;
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias));
    bias_ = bias;
  }

  void choose_algorithm(const Matmul& op, const Signature& signature, const CudaDevice& device) {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublaslt().preference_create(&made), "cublasLtMatmulPreferenceCreate");
    const MatmulPreference preference(made);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      check(cublaslt().preference_set_attribute(made, attribute, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{largest_workspace(device.properties())});
    const std::uint32_t alignment = matmul_alignment(geometry_, element_bytes_);
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      prefer(attribute, alignment);
    }
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    const cublasStatus_t status =
        cublaslt().get_heuristic(handle_, desc_.get(), left_.get(), right_.get(), result_.get(), result_.get(),
                                 preference.get(), 1, &best, &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
      refuse(op, fmt::format("cuBLASLt has no algorithm for {} times {}", to_string(signature.inputs[0]),
                             to_string(signature.inputs[1])));
    }
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    algorithm_ = best.algo;
    workspace_bytes_ = best.workspaceSize;
    std::int32_t id = 0;
    std::size_t written = 0;
    check(cublaslt().algo_config_get_attribute(&algorithm_, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id, &written),
          "cublasLtMatmulAlgoConfigGetAttribute");
    implementation_ = fmt::format("cublaslt:{}", id);
  }

  cublasLtHandle_t handle_;
  int multiprocessors_;
  MatmulGeometry geometry_;
  MatmulEpilogue epilogue_;
  std::size_t element_bytes_;
  MatmulDesc desc_;
  MatrixLayout left_, right_, result_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_bytes_ = 0;
  std::string implementation_;
  const std::byte* bias_ = nullptr;
  ElementwiseLaunch activation_ = nullptr;
  ElementwiseAccess access_;
};

}  // namespace

std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device) {
  const TensorType& result = signature.outputs[0];
  require_floating(op, result);
  if (result.elements() == 0) {
    return launch_kernel(op, device, [](const LaunchOn&, Views, Views) { return cudaSuccess; });
  }
  if (signature.inputs[0].elements() == 0) refuse(op, "sums of no products are not supported");
  return std::make_unique<MatmulKernel>(op, signature, cuda_device(device));
}

}  // namespace gpubench::cuda
