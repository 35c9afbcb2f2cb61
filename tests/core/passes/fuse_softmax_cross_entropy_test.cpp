#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss.h"
#include "core/ops/reduce.h"
#include "core/ops/softmax.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Not;

/// Mean loss, its gradient by the logits, and the probabilities. The softmax is of `dtype`, the loss of float32.
Program classifier(Dtype label_type, Dtype dtype = Dtype::f32) {
  Program program;
  Graph& graph = program.graph;
  const Value logits = graph.input({{5, 3}, Dtype::f32}, "logits");
  const Value labels =
      label_type == Dtype::f32 ? graph.input({{5, 3}, Dtype::f32}, "labels") : graph.input({{5}, Dtype::i64}, "labels");
  const Value probabilities = ops::cast(graph, ops::softmax(graph, ops::cast(graph, logits, dtype)), Dtype::f32);
  const Value loss = ops::reduce_mean(graph, ops::cross_entropy(graph, probabilities, labels));
  const std::array wanted{logits};
  program.outputs = {loss, gradients(graph, loss, wanted)[0], probabilities};
  return program;
}

TEST(FuseSoftmaxCrossEntropy, ReplacesBothDirections) {
  const Program fused = remove_dead_code(fuse_softmax_cross_entropy(classifier(Dtype::f32)));
  EXPECT_THAT(op_names(fused.graph), Contains("softmax_cross_entropy"));
  EXPECT_THAT(op_names(fused.graph), Contains("softmax_cross_entropy_gradient"));
  EXPECT_THAT(op_names(fused.graph), Not(Contains("softmax")));
  EXPECT_THAT(op_names(fused.graph), Not(Contains("softmax_gradient")));
}

TEST(FuseSoftmaxCrossEntropy, LooksThroughTheCastsOfALossBehindASoftmaxOf16Bits) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const Program fused = remove_dead_code(fuse_softmax_cross_entropy(classifier(Dtype::i64, dtype)));
    EXPECT_THAT(op_names(fused.graph), Contains("sparse_softmax_cross_entropy"));
    EXPECT_THAT(op_names(fused.graph), Contains("sparse_softmax_cross_entropy_gradient"));
    EXPECT_THAT(op_names(fused.graph), Not(Contains("softmax")));
    EXPECT_THAT(op_names(fused.graph), Not(Contains("softmax_gradient")));
    expect_equal_results(
        "fuse_softmax_cross_entropy", [=] { return classifier(Dtype::i64, dtype); }, 1e-2F);
  }
}

TEST(FuseSoftmaxCrossEntropy, GivesTheSameResults) {
  expect_equal_results("fuse_softmax_cross_entropy", [] { return classifier(Dtype::i64); });
  expect_equal_results("fuse_softmax_cross_entropy", [] { return classifier(Dtype::f32); });
}

TEST(FuseSoftmaxCrossEntropy, StaysExactWhereTheProbabilityUnderflows) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  Program program;
  Graph& graph = program.graph;
  const Value logits = graph.input({{1, 2}, Dtype::f32}, "logits"), labels = graph.input({{1}, Dtype::i64}, "labels");
  const Value loss = ops::cross_entropy(graph, ops::softmax(graph, logits), labels);
  const auto executor = make_executor(runtime, std::move(graph), {loss});
  const std::array<float, 2> far{0.0F, 200.0F};
  const HostTensor x = HostTensor::of<float>({1, 2}, far), y = HostTensor::zeros({{1}, Dtype::i64});
  const std::array inputs{x.view(), y.view()};
  executor->run(inputs);
  EXPECT_FLOAT_EQ(executor->read(0).values<float>()[0], 200.0F);
}

}  // namespace
}  // namespace gpubench
