// The parameters on which cuBLASLt's choice of an algorithm depends, and nothing else, so that equal problems share one
// choice. Pure: depends on the op and the types, on no device.
#pragma once
#include <cstddef>
#include <cublasLt.h>
#include <optional>
#include <vector>

#include "core/backend/cuda/matmul_geometry.h"
#include "core/ops/fused_matmul.h"

namespace gpubench::cuda {

struct MatmulProblem {
  MatrixShape left, right, result;
  bool transpose_left = false, transpose_right = false;
  std::int64_t batch = 1;
  /// Type of the factors; the result of int8 is int32.
  Dtype dtype = Dtype::f32;
  /// float32 may be multiplied as TF32.
  bool tf32 = false;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  /// Whether the epilogue reads or writes a vector.
  bool vector = false;
  /// Leading dimension of the epilogue's auxiliary matrix: in bits for a relu mask, else in elements. 0: no such
  /// matrix.
  std::int64_t aux_leading = 0;
  /// Bytes to which every matrix is aligned.
  std::uint32_t alignment = 0;
  std::size_t workspace_limit = 0;
  auto operator<=>(const MatmulProblem&) const = default;
};

Dtype result_type(const MatmulProblem& problem);

/// Limits of a device.
struct MatmulRules {
  bool tf32 = false;
  std::size_t workspace_limit = 0;
};

MatmulRules matmul_rules(bool tf32);

/// A reference to one of an op's tensors.
struct TensorPlace {
  bool output = false;
  std::size_t index = 0;
  bool operator==(const TensorPlace&) const = default;
};

/// A problem, the mapping of the op's tensors to it, and the rest of the op that our own kernels compute.
struct MatmulCall {
  MatmulProblem problem;
  std::vector<MatmulGeometry::Start> launches{{}};
  /// The epilogue's bias, or the output for the bias gradient.
  std::optional<TensorPlace> vector = std::nullopt;
  /// The auxiliary matrix: an activation writes it, its derivative reads it.
  std::optional<TensorPlace> aux = std::nullopt;
  /// The tensor to which the product is added.
  std::optional<TensorPlace> sum = std::nullopt;
  /// Applied to the result by our own kernel.
  Activation after = Activation::none;
};

/// The result of `signature` may be empty, its inputs may not.
MatmulCall matmul_call(const Matmul& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulAccumulate& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulBiasGradient& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulAux& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulActivationGradient& op, const Signature& signature, const MatmulRules& rules);

}  // namespace gpubench::cuda
