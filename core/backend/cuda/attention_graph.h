// Attention and its gradient (core/ops/attention.h) as graphs of cuDNN, in the form that cuDNN's engines of fused
// attention recognise: products, softmax and their gradients as single operations. They compute what the ops do without
// mask and dropout: cuDNN has no masks of bool, and other random numbers.
#pragma once
#include <compare>
#include <cstdint>
#include <string>

#include "core/backend/cuda/cudnn_graph.h"

namespace gpubench::cuda {

struct AttentionProblem {
  bool gradient = false;
  Dtype dtype = Dtype::f16;
  std::int64_t batch = 0, queries = 0, keys = 0, heads = 0, groups = 0, dim = 0, value_dim = 0;
  float scale = 1;
  bool causal = false;

  auto operator<=>(const AttentionProblem&) const = default;
};

/// Forward: its runs take q, k, v, the result, and the logs of the sums. Gradient: q, k, v, the result, the logs of the
/// sums, the result's gradient, a float for each query of each head as scratch, dq, dk, dv. All gradients are sums in a
/// fixed order. Throws DeviceError when cuDNN refuses it.
CudnnGraph attention_graph(const AttentionProblem& problem, cudnnHandle_t handle);

}  // namespace gpubench::cuda
