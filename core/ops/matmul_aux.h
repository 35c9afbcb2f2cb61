// A product with an activation that keeps what its derivative will ask for, and the product of the backward pass that
// asks for it. Auxiliary tensors are laid out as cuBLASLt's epilogues want them: for relu one bit an element, which is
// a sixteenth or less of reading y again, for gelu_tanh its argument.
#pragma once
#include <optional>

#include "core/ops/matmul.h"

namespace gpubench {

/// Of an activation's result [m, n]. relu: uint8 [m, n / 8 rounded up to 16], rows of bits that only the backend that
/// wrote them reads. gelu_tanh: [m, n] of the result's type where n is a multiple of 8. Nothing for other activations.
std::optional<TensorType> aux_type(Activation activation, const TensorType& result);

/// a, b[, bias] -> activation(a b + bias), and the auxiliary tensor of it; a and b are matrices. A pass makes it of a
/// matmul and its activation after derivatives were taken; it has none itself.
class MatmulAux final : public Op {
 public:
  explicit MatmulAux(MatmulAttributes given) : options(given) {}
  std::string_view name() const override { return "matmul_aux"; }
  std::string attributes() const override { return Matmul(options).attributes(); }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  /// Of the product.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const MatmulAttributes options;
};

/// a, b, aux -> a b times the derivative of the activation that left `aux`; a and b are matrices. Made by a pass, as
/// MatmulAux.
class MatmulActivationGradient final : public Op {
 public:
  /// `options` have the activation whose derivative is meant, and no bias.
  explicit MatmulActivationGradient(MatmulAttributes given);
  std::string_view name() const override { return "matmul_activation_gradient"; }
  std::string attributes() const override { return Matmul(options).attributes(); }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  /// Of the product.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
  /// The product before the derivative.
  Matmul product() const;

  const MatmulAttributes options;
};

}  // namespace gpubench
