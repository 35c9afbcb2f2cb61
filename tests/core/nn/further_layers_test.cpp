// Group normalization, noise, borders, attention with scores of its own, sizes of images.
#include <gmock/gmock.h>

#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Called;
using support::f32;
using support::infer;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::int64_t one = 1, two = 2, three = 3;

TEST(GroupNormalization, HasAGammaAndABetaForEachChannel) {
  const Called layer("GroupNormalization", {{"groups", two}}, {f32({5, 6})});
  EXPECT_THAT(layer.variables.names, ElementsAre("group_normalization/gamma", "group_normalization/beta"));
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({6}));
  EXPECT_EQ(layer.shape(), (Shape{8, 5, 6}));
  EXPECT_ERROR("layer 'group_normalization' (GroupNormalization): was built for 6 channels, got float32[5, 4]",
               layer.layer->infer(std::vector{f32({5, 4})}));
  const Called first("GroupNormalization", {{"groups", one}, {"axis", one}, {"center", false}}, {f32({5, 6})});
  EXPECT_EQ(first.layer->variables()[0]->type, f32({5}));
  EXPECT_THAT(first.ops(), Contains("transpose").Times(2));
}

TEST(GroupNormalization, ComputesInFloat32) {
  const Called half("GroupNormalization", {{"groups", two}, {"dtype", std::string("float16")}}, {f32({6})});
  EXPECT_EQ(half.graph.type(half.output).dtype, Dtype::f16);
  EXPECT_THAT(half.ops(), Contains("cast").Times(5));
}

TEST(GroupNormalization, RefusesGroupsThatDoNotDivide) {
  EXPECT_ERROR(HasSubstr("has 4 groups, which do not divide the 6 channels of float32[5, 6]"),
               infer("GroupNormalization", {{"groups", std::int64_t{4}}}, {f32({5, 6})}));
  EXPECT_ERROR("GroupNormalization: groups must be at least 1, got 0",
               infer("GroupNormalization", {{"groups", std::int64_t{0}}}, {f32({5, 6})}));
  EXPECT_EQ(infer("GroupNormalization", {{"groups", std::int64_t{-1}}}, {f32({5, 6})}), (Shape{5, 6}));
  EXPECT_ERROR(HasSubstr("axis 0 is the batch or not there"),
               infer("GroupNormalization", {{"axis", std::int64_t{0}}}, {f32({32})}));
}

TEST(Noise, IsDrawnInTrainingOnly) {
  for (const char* kind : {"GaussianNoise", "GaussianDropout", "AlphaDropout"}) {
    const ConfigEntries options{{kind == std::string("GaussianNoise") ? "stddev" : "rate", 0.5}};
    EXPECT_THAT(Called(kind, options, {f32({3})}).ops(), IsEmpty()) << kind;
    const Called training(kind, options, {f32({3})}, true);
    EXPECT_THAT(training.ops(), Contains(kind == std::string("AlphaDropout") ? "random_uniform" : "random_normal"));
    EXPECT_TRUE(training.layer->draws());
    EXPECT_EQ(training.shape(), (Shape{8, 3}));
  }
  EXPECT_FALSE(make_layer("GaussianNoise", {{"stddev", 0.0}})->draws());
  EXPECT_ERROR(HasSubstr("rate must be at least 0 and below 1, got 1"),
               infer("GaussianDropout", {{"rate", 1.0}}, {f32({3})}));
  EXPECT_ERROR(HasSubstr("stddev must be at least 0"), infer("GaussianNoise", {{"stddev", -1.0}}, {f32({3})}));
}

TEST(Noise, DiffersWhereALayerIsAppliedTwice) {
  const LayerPtr layer = make_layer("GaussianNoise", {{"stddev", 0.5}, {"seed", three}});
  Graph graph;
  const Value x = graph.input(f32({2, 3}), "x"), step = graph.input({{}, Dtype::i64}, "step");
  support::FakeVariables variables;
  layer->build(variables, std::vector{f32({3})});
  for (int i = 0; i < 2; ++i) layer->call({graph, true, step}, std::span(&x, 1));
  std::vector<std::string> attributes;
  for (const Node& node : graph.nodes()) {
    if (node.op->name() == "random_normal") attributes.push_back(node.op->attributes());
  }
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_NE(attributes[0], attributes[1]);
  EXPECT_ERROR(HasSubstr("draws by the step counter in training, but this call has none"),
               layer->call({graph, true}, std::span(&x, 1)));
}

TEST(SpatialDropout, DrawsOneNumberForAChannel) {
  const Called images("SpatialDropout2D", {{"rate", 0.5}}, {f32({4, 5, 3})}, true);
  EXPECT_THAT(images.ops(), ElementsAre("broadcast_to", "dropout", "mul"));
  EXPECT_EQ(images.shape(), (Shape{8, 4, 5, 3}));
  EXPECT_THAT(Called("SpatialDropout1D", {{"rate", 0.5}}, {f32({5, 3})}).ops(), IsEmpty());
  EXPECT_ERROR(HasSubstr("expects [height, width, channels] per example, got float32[5, 3]"),
               infer("SpatialDropout2D", {{"rate", 0.5}}, {f32({5, 3})}));
}

TEST(Borders, AreAddedOrCutOff) {
  EXPECT_EQ(Called("ZeroPadding1D", {{"padding", Shape{1, 2}}}, {f32({5, 3})}).shape(), (Shape{8, 8, 3}));
  EXPECT_EQ(Called("Cropping1D", {{"cropping", Shape{1, 2}}}, {f32({5, 3})}).shape(), (Shape{8, 2, 3}));
  EXPECT_EQ(Called("Cropping2D", {{"cropping", Shape{1, 0, 2, 1}}}, {f32({5, 6, 3})}).shape(), (Shape{8, 4, 3, 3}));
  EXPECT_EQ(infer("Cropping2D", {}, {f32({5, 6, 3})}), (Shape{5, 6, 3}));
  EXPECT_ERROR(HasSubstr("crops 6 of 6 along axis 2, and nothing would be left of float32[5, 6, 3]"),
               infer("Cropping2D", {{"cropping", Shape{0, 3}}}, {f32({5, 6, 3})}));
  EXPECT_ERROR("Cropping1D: cropping must be one integer or {first, last}, each 0 to 2147483647, got [1, 2, 3, 4]",
               infer("Cropping1D", {{"cropping", Shape{1, 2, 3, 4}}}, {f32({5, 3})}));
  EXPECT_ERROR(HasSubstr("must be one integer, {height, width} or {{top, bottom}, {left, right}}"),
               infer("ZeroPadding2D", {{"padding", Shape{1, 2, 3}}}, {f32({5, 5, 3})}));
}

TEST(UpSampling1D, RepeatsSteps) {
  EXPECT_EQ(Called("UpSampling1D", {{"size", three}}, {f32({5, 2})}).shape(), (Shape{8, 15, 2}));
  EXPECT_ERROR("UpSampling1D: size must be at least 1, got 0", infer("UpSampling1D", {{"size", std::int64_t{0}}}, {}));
}

TEST(Conv1DTranspose, IsThatOfAnImageOfOneRow) {
  const Called layer("Conv1DTranspose", {{"filters", three}, {"kernel_size", Shape{4}}, {"strides", Shape{2}}},
                     {f32({5, 2})});
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({4, 3, 2}));
  EXPECT_EQ(layer.shape(), (Shape{8, 12, 3}));
  EXPECT_ERROR("Conv1DTranspose: kernel_size must be one positive integer, got [1, 2]",
               infer("Conv1DTranspose", {{"filters", three}, {"kernel_size", Shape{1, 2}}}, {f32({5, 2})}));
}

TEST(PReLU, SharesItsAlphas) {
  const Called own("PReLU", {}, {f32({4, 5, 3})});
  EXPECT_EQ(own.layer->variables()[0]->type, f32({4, 5, 3}));
  EXPECT_THAT(own.ops(), ElementsAre("neg", "relu", "relu", "mul", "sub"));
  const Called shared("PReLU", {{"shared_axes", Shape{1, 2}}}, {f32({4, 5, 3})});
  EXPECT_EQ(shared.layer->variables()[0]->type, f32({1, 1, 3}));
  EXPECT_EQ(shared.layer->infer(std::vector{f32({7, 7, 3})}).shape, (Shape{7, 7, 3}));
  EXPECT_ERROR("layer 'p_re_lu' (PReLU): has alphas [4, 5, 3], and float32[4, 4, 3] needs [4, 4, 3]",
               own.layer->infer(std::vector{f32({4, 4, 3})}));
  EXPECT_ERROR(HasSubstr("axis 4 is the batch or not there"), Called("PReLU", {{"shared_axes", Shape{4}}}, {f32({3})}));
}

TEST(Dot, SumsProductsAlongItsAxes) {
  EXPECT_EQ(infer("Dot", {{"axes", Shape{1}}}, {f32({4}), f32({4})}), (Shape{1}));
  EXPECT_EQ(Called("Dot", {{"axes", Shape{2, 1}}}, {f32({3, 4}), f32({4, 5})}).shape(), (Shape{8, 3, 5}));
  EXPECT_EQ(Called("Dot", {{"axes", Shape{-1}}}, {f32({2, 3, 4}), f32({5, 4})}).shape(), (Shape{8, 2, 3, 5}));
  EXPECT_ERROR(
      HasSubstr("needs floating-point inputs of one type with equal extents along its axes [1], got float32[4] "
                "and float32[3]"),
      infer("Dot", {{"axes", Shape{1}}}, {f32({4}), f32({3})}));
  EXPECT_ERROR("Dot: axes must be one integer or one for each of two inputs, got [1, 2, 3]",
               infer("Dot", {{"axes", Shape{1, 2, 3}}}, {}));
  EXPECT_ERROR("layer 'dot' (Dot): takes two inputs, got 1", infer("Dot", {{"axes", Shape{1}}}, {f32({4})}));
}

TEST(ScoreAttention, UsesTheOpOfAttentionForProducts) {
  const std::vector<TensorType> inputs{f32({3, 4}), f32({5, 2}), f32({5, 4})};
  const Called dot("Attention", {}, inputs);
  EXPECT_THAT(dot.ops(), ElementsAre("reshape", "reshape", "reshape", "attention", "reshape"));
  EXPECT_EQ(dot.shape(), (Shape{8, 3, 2}));
  const Called sums("AdditiveAttention", {}, inputs);
  EXPECT_THAT(sums.ops(), AllOf(Contains("tanh"), Contains("softmax"), Not(Contains("attention"))));
  EXPECT_THAT(sums.variables.names, ElementsAre("additive_attention/scale"));
  const Called both("Attention", {{"use_scale", true}, {"score_mode", std::string("concat")}}, inputs);
  EXPECT_THAT(both.variables.names, ElementsAre("attention/scale", "attention/concat_score_weight"));
  EXPECT_EQ(both.layer->variables()[0]->type, f32({}));
}

TEST(ScoreAttention, RefusesWhatDoesNotFit) {
  EXPECT_ERROR(HasSubstr("takes a query, a value, a key unless it is the value"),
               infer("Attention", {}, {f32({3, 4})}));
  EXPECT_ERROR(HasSubstr("needs keys with the channels of the query"),
               infer("Attention", {}, {f32({3, 4}), f32({5, 2})}));
  EXPECT_ERROR(
      HasSubstr("the mask must be [keys] or [queries, keys] per example with 3 queries and 5 keys, got bool[4]"),
      infer("Attention", {}, {f32({3, 4}), f32({5, 4}), {{4}, Dtype::boolean}}));
  EXPECT_ERROR("Attention: score_mode must be 'dot' or 'concat', got 'sum'",
               infer("Attention", {{"score_mode", std::string("sum")}}, {}));
  EXPECT_ERROR(HasSubstr("expects floating-point [time, channels] per example, got float32[3]"),
               infer("AdditiveAttention", {}, {f32({3}), f32({5, 4})}));
}

TEST(Sizes, OfImagesChange) {
  const ConfigEntries size{{"height", two}, {"width", three}};
  EXPECT_EQ(Called("Resizing", size, {{{5, 4, 1}, Dtype::u8}}).shape(), (Shape{8, 2, 3, 1}));
  EXPECT_THAT(Called("Resizing", size, {f32({2, 3, 1})}).ops(), IsEmpty());
  const Called inference("RandomCrop", size, {f32({5, 4, 1})});
  EXPECT_THAT(inference.ops(), Contains("resize_images"));
  const Called training("RandomCrop", size, {f32({5, 4, 1})}, true);
  EXPECT_THAT(training.ops(), AllOf(Contains("random_crop"), Not(Contains("resize_images"))));
  EXPECT_THAT(Called("RandomCrop", size, {f32({1, 4, 1})}, true).ops(), Not(Contains("random_crop")));
  EXPECT_ERROR(HasSubstr("expects [height, width, channels] of numbers per example, got float32[5, 4]"),
               infer("Resizing", size, {f32({5, 4})}));
  EXPECT_ERROR("Resizing: height must be at least 1, got 0",
               infer("Resizing", {{"height", std::int64_t{0}}, {"width", three}}, {}));
  ConfigEntries both = size;
  both.insert(both.end(), {{"crop_to_aspect_ratio", true}, {"pad_to_aspect_ratio", true}});
  EXPECT_ERROR("Resizing: only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be given",
               infer("Resizing", both, {}));
}

}  // namespace
}  // namespace gpubench
