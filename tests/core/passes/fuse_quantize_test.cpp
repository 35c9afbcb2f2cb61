#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "core/ops/quantize.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/shape_ops.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Not;

class QuantizedPasses : public ::testing::Test {
 protected:
  Value whole(Graph& graph, Shape shape) {
    HostTensor values({std::move(shape), Dtype::i8});
    int next = 0;
    for (std::int8_t& value : values.values<std::int8_t>()) value = static_cast<std::int8_t>(next++ * 37 % 255 - 127);
    return graph.variable(runtime.variables().create("kernel", values, {}));
  }
  Value real(Graph& graph, Shape shape, float value) {
    HostTensor values({std::move(shape), Dtype::f32});
    for (float& each : values.values<float>()) each = value;
    return graph.variable(runtime.variables().create("scale", values, {}));
  }

  /// x -> dense(relu) -> flat -> dense: two products that read what quantize gives.
  Program two_products(bool per_channel = false) {
    Program program;
    Graph& graph = program.graph;
    const Value x = graph.input({{6, 5, 5, 3}, Dtype::f32}, "x");
    const Value first = ops::quantize(graph, x, real(graph, {}, 0x1p-7F));
    Value y = ops::quantized_conv2d(graph, first, whole(graph, {3, 3, 3, 8}), real(graph, {8}, 0x1p-12F), {});
    y = ops::relu(graph, ops::bias_add(graph, y, real(graph, {8}, 0.25F)));
    y = ops::reshape(graph, y, {6, 72});
    y = ops::quantize(graph, y, real(graph, per_channel ? Shape{72} : Shape{}, 0x1p-4F));
    y = ops::quantized_matmul(graph, y, whole(graph, {72, 7}), real(graph, {7}, 0x1p-10F));
    program.outputs = {ops::bias_add(graph, y, real(graph, {7}, 0.5F))};
    return program;
  }

  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
};

TEST_F(QuantizedPasses, OnlyTheFirstLayerQuantizesAlone) {
  const auto names = op_names(fuse_quantize(fuse_epilogue(two_products())).graph);
  EXPECT_EQ(std::ranges::count(names, "quantize"), 1);
  EXPECT_THAT(names, Not(Contains("relu")));
  EXPECT_THAT(names, Not(Contains("bias_add")));
}

TEST_F(QuantizedPasses, AScaleForEachElementOfARowStaysAlone) {
  const auto names = op_names(fuse_quantize(fuse_epilogue(two_products(true))).graph);
  EXPECT_EQ(std::ranges::count(names, "quantize"), 2);
}

TEST_F(QuantizedPasses, AProductThatIsReadTwiceStaysReal) {
  Program program = two_products();
  for (std::int32_t i = 0; i < std::ssize(program.graph.nodes()); ++i) {
    if (program.graph.nodes()[static_cast<std::size_t>(i)].op->name() == "relu") program.outputs.push_back({i, 0});
  }
  const auto names = op_names(fuse_quantize(fuse_epilogue(std::move(program))).graph);
  EXPECT_EQ(std::ranges::count(names, "quantize"), 2);
}

TEST_F(QuantizedPasses, KernelsThatAreVariablesArePackedOnce) {
  const Graph graph = pack_weights(fuse_quantize(fuse_epilogue(two_products()))).graph;
  EXPECT_EQ(std::ranges::count(op_names(graph), "pack_weights"), 2);
}

TEST_F(QuantizedPasses, AKernelThatIsGivenIsNotPacked) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{2, 4}, Dtype::i8}, "x"), kernel = graph.input({{4, 3}, Dtype::i8}, "kernel");
  program.outputs = {ops::quantized_matmul(graph, x, kernel, real(graph, {3}, 1))};
  EXPECT_THAT(op_names(pack_weights(std::move(program)).graph), Not(Contains("pack_weights")));
}

TEST_F(QuantizedPasses, ChangeNoResult) {
  for (const char* pass : {"fuse_quantize", "pack_weights", "fuse_epilogue"}) {
    SCOPED_TRACE(pass);
    std::vector<std::vector<float>> results;
    const HostTensor x = random_values({{6, 5, 5, 3}, Dtype::f32}, 3);
    for (const bool on : {true, false}) {
      Program program = two_products();
      ExecutorOptions options;
      if (!on) options.passes.disabled.insert(pass);
      const auto executor = make_executor(runtime, std::move(program.graph), program.outputs, options);
      const std::vector<TensorView> inputs{x.view()};
      executor->run(inputs);
      const HostTensor y = executor->read(0);
      results.emplace_back(y.values<float>().begin(), y.values<float>().end());
    }
    EXPECT_EQ(results[0], results[1]);  // scales are powers of two: no rounding differs
  }
}

}  // namespace
}  // namespace gpubench
