// Products that passes make of a matmul and the op beside it, after derivatives were taken; they have none themselves.
// The gradient of a layer's weights joins the sum of the micro-batches before, or is computed with that of its bias in
// one kernel that reads dy once. A product with an activation keeps what its derivative will ask for, laid out as
// cuBLASLt's epilogues want it: for relu one bit an element, which is a sixteenth or less of reading y again, for
// gelu_tanh its argument.
#pragma once
#include <cstdint>
#include <optional>

#include "core/ops/matmul.h"

namespace gpubench {

/// a, b, sum [m, n] -> sum + a b, for matrices a and b as in a matmul; the result may overwrite the sum. A pass makes
/// it after derivatives were taken; it has none itself.
class MatmulAccumulate final : public Op {
 public:
  /// Throws Error for options that add a bias or an activation.
  explicit MatmulAccumulate(MatmulAttributes given);
  std::string_view name() const override { return "matmul_accumulate"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 2, Alias::Kind::may_overwrite}}; }
  bool adds_inputs() const override { return true; }
  /// Of the product and the addition.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const MatmulAttributes options;
};

enum class Factor : std::uint8_t { first, second };

/// a [k, m] transposed, b [k, n] -> a' b [m, n] and the sum down the columns of a [m] or of b [n]; the factor that is
/// not summed may be transposed as in a matmul. A pass makes it of a matmul and a bias_gradient after derivatives were
/// taken; it has none itself.
class MatmulBiasGradient final : public Op {
 public:
  /// Throws Error for options that add a bias or an activation, or by which the factor is not multiplied down its
  /// columns.
  MatmulBiasGradient(MatmulAttributes given, Factor of);
  std::string_view name() const override { return "matmul_bias_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  /// Of the product and the sum.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const MatmulAttributes options;
  const Factor summed;
};

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
