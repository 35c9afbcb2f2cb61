#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/bias.h"
#include "core/ops/conv.h"
#include "core/ops/elementwise.h"
#include "core/ops/pool.h"
#include "core/ops/reduce.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Not;

/// Loss of max_pool(relu(conv(x, f) + b)) and its gradients by f and b, and by x when asked for.
Program pooled_layer(std::int64_t channels, bool input_gradient) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{3, 7, 8, channels}, Dtype::f32}, "x");
  const Value filter = graph.input({{3, 3, channels, 16}, Dtype::f32}, "f");
  const Value bias = graph.input({{16}, Dtype::f32}, "b");
  const Value y = ops::relu(graph, ops::bias_add(graph, ops::conv2d(graph, x, filter), bias));
  const Value loss = ops::reduce_mean(graph, ops::square(graph, ops::max_pool2d(graph, y)));
  std::vector<Value> wanted{filter, bias};
  if (input_gradient) wanted.push_back(x);
  program.outputs = gradients(graph, loss, wanted);
  program.outputs.push_back(loss);
  return program;
}

TEST(FuseConvPool, FusesBothDirectionsOfAFirstLayer) {
  const Program fused = apply_passes(pooled_layer(1, false), {});
  EXPECT_THAT(op_names(fused.graph), Contains("conv2d_max_pool"));
  EXPECT_THAT(op_names(fused.graph), Contains("conv2d_max_pool_filter_gradient"));
  for (const char* op : {"conv2d", "max_pool2d", "max_pool2d_gradient", "conv2d_filter_gradient"}) {
    EXPECT_THAT(op_names(fused.graph), Not(Contains(op)));
  }
}

TEST(FuseConvPool, KeepsAGradientThatTwoRead) {
  const Program fused = apply_passes(pooled_layer(1, true), {});
  EXPECT_THAT(op_names(fused.graph), Contains("conv2d_max_pool"));
  EXPECT_THAT(op_names(fused.graph), Contains("max_pool2d_gradient"));
  EXPECT_THAT(op_names(fused.graph), Contains("conv2d_filter_gradient"));
}

TEST(FuseConvPool, GivesTheSameResults) {
  for (const std::int64_t channels : {1, 5}) {
    for (const bool input_gradient : {false, true}) {
      expect_equal_results("fuse_conv_pool", [&] { return pooled_layer(channels, input_gradient); });
    }
  }
}

}  // namespace
}  // namespace gpubench
