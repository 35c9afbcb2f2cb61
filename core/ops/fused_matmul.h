// Products that passes form from a matmul and a neighbouring op. They are created after autodiff and have no gradients.
// A weight gradient is added to the sum of the earlier micro-batches, or computed together with its bias gradient in
// one kernel that reads dy once. A product with an activation saves what the gradient needs, in the layout of
// cuBLASLt's epilogues: for relu one bit per element, at most a sixteenth of the size of y; for gelu_tanh its argument.
#pragma once
#include <cstdint>
#include <optional>

#include "core/ops/matmul.h"

namespace gpubench {

/// a, b, sum [m, n] -> sum + a b, for matrices a and b as in a matmul; the result may overwrite the sum.
class MatmulAccumulate final : public Op {
 public:
  /// Throws Error for options that add a bias or an activation.
  explicit MatmulAccumulate(MatmulAttributes given);
  std::string_view name() const override { return "matmul_accumulate"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 2, Alias::Kind::may_overwrite}}; }
  bool adds_inputs() const override { return true; }
  /// Flops of both product and addition.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const MatmulAttributes options;
};

enum class Factor : std::uint8_t { first, second };

/// a [k, m] transposed, b [k, n] -> a' b [m, n], and the column sums of a [m] or of b [n]; the factor that is not
/// summed may be transposed as in a matmul. Formed from a matmul and a bias_gradient.
class MatmulBiasGradient final : public Op {
 public:
  /// Throws Error for options that add a bias or an activation, and if the summed factor is transposed the wrong way.
  MatmulBiasGradient(MatmulAttributes given, Factor of);
  std::string_view name() const override { return "matmul_bias_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// Flops of both product and sum.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const MatmulAttributes options;
  const Factor summed;
};

/// The auxiliary tensor for an activation's result [m, n]. relu: uint8 [m, n / 8 rounded up to 16], rows of bits in the
/// writing backend's own layout. gelu_tanh: [m, n] of the result's type if n is a multiple of 8. None for other
/// activations.
std::optional<TensorType> aux_type(Activation activation, const TensorType& result);

/// a, b[, bias] -> activation(a b + bias), and its auxiliary tensor; a and b are matrices. Formed from a matmul and its
/// activation.
class MatmulAux final : public Op {
 public:
  explicit MatmulAux(MatmulAttributes given) : options(given) {}
  std::string_view name() const override { return "matmul_aux"; }
  std::string attributes() const override { return Matmul(options).attributes(); }
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// Flops of the product.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const MatmulAttributes options;
};

/// a, b, aux -> a b times the derivative of the activation that wrote `aux`; a and b are matrices.
class MatmulActivationGradient final : public Op {
 public:
  /// `given` has the activation to differentiate, and no bias.
  explicit MatmulActivationGradient(MatmulAttributes given);
  std::string_view name() const override { return "matmul_activation_gradient"; }
  std::string attributes() const override { return Matmul(options).attributes(); }
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// Flops of the product.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;
  /// The product without the derivative.
  Matmul product() const;

  const MatmulAttributes options;
};

}  // namespace gpubench
