// Softmax and log-softmax over the last dimension, and their gradients, computed from the results.
#pragma once
#include "core/ops/simple_op.h"

namespace gpubench {

/// x [..., classes] -> exp(x) / sum(exp(x)), shifted by the maximum so that nothing overflows
struct Softmax final : SimpleOp {
  Softmax();
};
/// dy, y -> y (dy - sum(dy y))
struct SoftmaxGradient final : SimpleOp {
  SoftmaxGradient();
};
/// x [..., classes] -> x - log(sum(exp(x)))
struct LogSoftmax final : SimpleOp {
  LogSoftmax();
};
/// dy, y -> dy - exp(y) sum(dy)
struct LogSoftmaxGradient final : SimpleOp {
  LogSoftmaxGradient();
};

namespace ops {

Value softmax(Graph& graph, Value x);
Value softmax_gradient(Graph& graph, Value dy, Value y);
Value log_softmax_gradient(Graph& graph, Value dy, Value y);

}  // namespace ops
}  // namespace gpubench
