// What cuBLASLt is asked for one product of matrices: all that its choice of an algorithm depends on and nothing else,
// so that equal problems share one choice. Pure: it knows the op and the types, no device.
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
  /// Of the matrices; int8's result is int32.
  Dtype dtype = Dtype::f32;
  /// float32 may be multiplied as TF32.
  bool tf32 = false;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  /// The epilogue adds a vector, or writes one.
  bool vector = false;
  /// Of the epilogue's auxiliary matrix: bits for a mask of relu, else elements. 0: it has none.
  std::int64_t aux_leading = 0;
  /// Bytes to whose multiples every matrix is aligned.
  std::uint32_t alignment = 0;
  std::size_t workspace_limit = 0;
  auto operator<=>(const MatmulProblem&) const = default;
};

Dtype result_type(const MatmulProblem& problem);

/// What a device allows.
struct MatmulRules {
  bool tf32 = false;
  std::size_t workspace_limit = 0;
};

/// `major`: of the GPU's compute capability.
MatmulRules matmul_rules(int major, bool tf32);

/// One of an op's tensors.
struct TensorPlace {
  bool output = false;
  std::size_t index = 0;
  bool operator==(const TensorPlace&) const = default;
};

/// A problem, and how an op's memory and what is left of the op belong to it.
struct MatmulCall {
  MatmulProblem problem;
  std::vector<MatmulGeometry::Start> launches{{}};
  /// Of the epilogue: the bias, or where its gradient goes.
  std::optional<TensorPlace> vector = std::nullopt;
  /// What an activation leaves for its derivative, or what the derivative reads.
  std::optional<TensorPlace> aux = std::nullopt;
  /// What the product is added to.
  std::optional<TensorPlace> sum = std::nullopt;
  /// What a kernel of our own applies to the result.
  Activation after = Activation::none;
};

/// The result of `signature` may be empty, its inputs not.
MatmulCall matmul_call(const Matmul& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulAccumulate& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulBiasGradient& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulAux& op, const Signature& signature, const MatmulRules& rules);
MatmulCall matmul_call(const MatmulActivationGradient& op, const Signature& signature, const MatmulRules& rules);

}  // namespace gpubench::cuda
