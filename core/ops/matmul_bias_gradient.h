// A product and, by the way, the sum of one of its factors over the dimension that the product sums over: the gradients
// of a dense layer's weights and of its bias in one kernel that reads dy once.
#pragma once
#include <cstdint>

#include "core/ops/matmul.h"

namespace gpubench {

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

}  // namespace gpubench
