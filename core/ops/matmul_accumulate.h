// A product added to what is there: how the gradient of a layer's weights joins the sum of the micro-batches before, in
// the memory of that sum and without a pass over it of its own.
#pragma once
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

}  // namespace gpubench
