// Matrix products, with the bias and activation of a dense layer as an epilogue.
#pragma once
#include "core/graph/graph.h"
#include "core/ops/activation.h"

namespace gpubench {

struct MatmulAttributes {
  bool transpose_a = false;
  bool transpose_b = false;
  bool bias = false;  ///< a third input, [n]
  Activation activation = Activation::none;
};

/// activation(a b + bias): a [..., m, k], b [..., k, n] (after transposing), bias [n] -> [..., m, n]. Leading
/// dimensions broadcast as in NumPy.
class Matmul final : public Op {
 public:
  explicit Matmul(MatmulAttributes given = {}) : options(given) {}
  std::string_view name() const override { return "matmul"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  /// 2 m n k for each matrix; the epilogue is not counted.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const MatmulAttributes options;
};

namespace ops {

Value matmul(Graph& graph, Value a, Value b, MatmulAttributes options = {});
/// With an epilogue that adds `bias` [n].
Value matmul(Graph& graph, Value a, Value b, Value bias, MatmulAttributes options = {});

}  // namespace ops
}  // namespace gpubench
