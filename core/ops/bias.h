// Adds one number per channel; the gradient sums over all dimensions but the channels.
#pragma once
#include "core/ops/simple_op.h"

namespace gpubench {

/// x [..., channels], bias [channels] -> x + bias
struct BiasAdd final : SimpleOp {
  BiasAdd();
};
/// dy [..., channels] -> [channels]
struct BiasGradient final : SimpleOp {
  BiasGradient();
};

namespace ops {

Value bias_add(Graph& graph, Value x, Value bias);
Value bias_gradient(Graph& graph, Value dy);

}  // namespace ops
}  // namespace gpubench
