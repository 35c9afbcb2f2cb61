// Layers without weights that combine, activate, scale or reorder their inputs.
#include <gmock/gmock.h>

#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Called;
using support::f32;
using support::infer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> merged(const char* kind, std::size_t inputs) {
  return Called(kind, {}, std::vector<TensorType>(inputs, f32({3}))).ops();
}

TEST(Merging, CombinesTwoInputsAtATime) {
  EXPECT_THAT(merged("Multiply", 3), ElementsAre("mul", "mul"));
  EXPECT_THAT(merged("Average", 3), ElementsAre("add", "add", "mul"));
  EXPECT_THAT(merged("Maximum", 2), ElementsAre("maximum"));
  EXPECT_THAT(merged("Minimum", 2), ElementsAre("minimum"));
  EXPECT_THAT(merged("Subtract", 2), ElementsAre("sub"));
  EXPECT_ERROR("layer 'subtract' (Subtract): takes 2 inputs, got 3",
               infer("Subtract", {}, {f32({3}), f32({3}), f32({3})}));
}

TEST(Merging, StretchesExtentsOfOne) {
  EXPECT_EQ(Called("Multiply", {}, {f32({4, 4, 3}), f32({1, 1, 3})}).shape(), (Shape{8, 4, 4, 3}));
  EXPECT_EQ(Called("Add", {}, {f32({1, 3}), f32({4, 1})}).shape(), (Shape{8, 4, 3}));
  EXPECT_ERROR(HasSubstr("needs inputs of one type, whose extents are equal or 1"),
               infer("Add", {}, {f32({4, 3}), f32({3})}));
}

TEST(ReLU, ChoosesTheCheapestFunction) {
  const auto ops = [](const ConfigEntries& options) { return Called("ReLU", options, {f32({3})}).ops(); };
  EXPECT_THAT(ops({}), ElementsAre("relu"));
  EXPECT_THAT(ops({{"max_value", 6.0}}), ElementsAre("relu6"));
  EXPECT_THAT(ops({{"max_value", 4.0}}), ElementsAre("relu", "minimum"));
  EXPECT_THAT(ops({{"negative_slope", 0.1}}), ElementsAre("leaky_relu"));
  EXPECT_THAT(ops({{"threshold", 0.5}}), ElementsAre("sub", "mul", "greater", "select"));
  EXPECT_ERROR("ReLU: max_value must be at least 0, got -2", infer("ReLU", {{"max_value", -2.0}}, {f32({3})}));
  EXPECT_ERROR("ReLU: threshold must be at least 0, got -2", infer("ReLU", {{"threshold", -2.0}}, {f32({3})}));
}

TEST(ActivationLayers, ApplyTheirFunction) {
  EXPECT_THAT(Called("LeakyReLU", {}, {f32({3})}).ops(), ElementsAre("leaky_relu"));
  EXPECT_THAT(Called("ELU", {}, {f32({3})}).ops(), ElementsAre("elu"));
  EXPECT_ERROR("LeakyReLU: negative_slope must be at least 0, got -0.5",
               infer("LeakyReLU", {{"negative_slope", -0.5}}, {f32({3})}));
}

TEST(Softmax, WorksAlongAnyAxisButTheBatch) {
  EXPECT_THAT(Called("Softmax", {}, {f32({4, 3})}).ops(), ElementsAre("softmax"));
  EXPECT_THAT(Called("Softmax", {{"axis", std::int64_t{1}}}, {f32({4, 3})}).ops(),
              ElementsAre("transpose", "softmax", "transpose"));
  EXPECT_THAT(Called("Softmax", {{"axis", std::int64_t{-2}}}, {f32({4, 3})}).ops(),
              ElementsAre("transpose", "softmax", "transpose"));
  EXPECT_ERROR(HasSubstr("axis 0 is the batch or not there; float32[4, 3] per example has the axes "
                         "1 to 2 or -1 to -2"),
               infer("Softmax", {{"axis", std::int64_t{0}}}, {f32({4, 3})}));
}

TEST(Rescaling, CastsAndScales) {
  const Called bytes("Rescaling", {{"scale", 0.5}, {"offset", -1.0}}, {{{4, 4, 3}, Dtype::u8}});
  EXPECT_THAT(bytes.ops(), ElementsAre("cast", "mul", "add"));
  EXPECT_EQ(bytes.graph.type(bytes.output).dtype, Dtype::f32);
  EXPECT_THAT(Called("Rescaling", {{"scale", 0.5}}, {f32({3})}).ops(), ElementsAre("mul"));
}

TEST(Normalization, HoldsStatisticsOfEachChannel) {
  const Called layer("Normalization", {{"mean", 2.0}}, {f32({4, 3})});
  EXPECT_THAT(layer.variables.names, ElementsAre("normalization/mean", "normalization/variance"));
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({3}));
  EXPECT_FALSE(layer.layer->variables()[0]->trainable);
  EXPECT_THAT(layer.ops(), ElementsAre("sqrt", "maximum", "sub", "div"));
  EXPECT_ERROR(HasSubstr("expects [..., channels] per example, got float32[]"), infer("Normalization", {}, {f32({})}));
}

TEST(Permute, OrdersDimensionsFromOne) {
  EXPECT_EQ(Called("Permute", {{"dims", Shape{3, 1, 2}}}, {f32({4, 5, 6})}).shape(), (Shape{8, 6, 4, 5}));
  EXPECT_ERROR(
      "Permute: dims must list each dimension of an example once, numbered from 1, got "
      "[0, 1]",
      infer("Permute", {{"dims", Shape{0, 1}}}, {f32({4, 5})}));
  EXPECT_ERROR(HasSubstr("dims [2, 1] order 2 dimensions, got float32[4]"),
               infer("Permute", {{"dims", Shape{2, 1}}}, {f32({4})}));
}

TEST(RepeatVector, AddsADimension) {
  EXPECT_EQ(Called("RepeatVector", {{"n", std::int64_t{3}}}, {f32({4})}).shape(), (Shape{8, 3, 4}));
  EXPECT_ERROR(HasSubstr("expects [features] per example, got float32[4, 2]"),
               infer("RepeatVector", {{"n", std::int64_t{3}}}, {f32({4, 2})}));
}

}  // namespace
}  // namespace gpubench
