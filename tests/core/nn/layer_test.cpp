// Every layer: the type it gives, the variables it makes, the nodes it adds, and what it refuses.
#include "core/nn/layer.h"

#include <gmock/gmock.h>

#include "core/nn/layer_kind.h"
#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_variables.h"

namespace gpubench {
namespace {

using support::FakeVariables;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using support::Called;
using support::f32;
using support::infer;

TEST(Dense, MakesKernelAndBias) {
  const Called dense("Dense", {{"units", std::int64_t{10}}, {"activation", std::string("relu")}}, {f32({784})});
  EXPECT_EQ(dense.shape(), (Shape{8, 10}));
  EXPECT_THAT(dense.variables.names, ElementsAre("dense/kernel", "dense/bias"));
  EXPECT_EQ(dense.layer->variables()[0]->type, f32({784, 10}));
  EXPECT_THAT(dense.ops(), ElementsAre("matmul", "bias_add", "relu"));
  EXPECT_EQ(dense.graph.node(dense.output).label, "dense");
}

TEST(Dense, WorksOnTheLastDimension) {
  const Called dense("Dense", {{"units", std::int64_t{4}}, {"use_bias", false}}, {f32({5, 3})});
  EXPECT_EQ(dense.shape(), (Shape{8, 5, 4}));
  EXPECT_THAT(dense.variables.names, ElementsAre("dense/kernel"));
}

TEST(Dense, SharesItsVariablesAmongCalls) {
  Called dense("Dense", {{"units", std::int64_t{4}}}, {f32({3})});
  const Value smaller = dense.graph.input(f32({2, 3}), "x");
  dense.layer->call({dense.graph}, std::span(&smaller, 1));
  EXPECT_EQ(dense.graph.variables().size(), 2U);
}

ConfigEntries under(std::string_view policy, ConfigEntries options = {}) {
  options.emplace_back("dtype", std::string(policy));
  return options;
}

TEST(Policy, MixedOnesKeepFloat32VariablesAndComputeIn16Bits) {
  for (const auto& [policy, compute] : {std::pair("mixed_float16", Dtype::f16), {"mixed_bfloat16", Dtype::bf16}}) {
    const Called dense("Dense", under(policy, {{"units", std::int64_t{4}}, {"activation", std::string("relu")}}),
                       {f32({3})});
    EXPECT_EQ(dense.layer->variables()[0]->type.dtype, Dtype::f32);
    EXPECT_EQ(dense.graph.type(dense.output), (TensorType{{8, 4}, compute}));
    EXPECT_THAT(dense.ops(), ElementsAre("cast", "cast", "matmul", "cast", "bias_add", "relu"));
  }
}

TEST(Policy, MixedOnesComputeSoftmaxInFloat32) {
  const ConfigEntries options = {{"activation", std::string("softmax")}};
  const Called activation("Activation", under("mixed_float16", options), {f32({3})});
  EXPECT_EQ(activation.graph.type(activation.output).dtype, Dtype::f32);
  ConfigEntries of_dense = options;
  of_dense.emplace_back("units", std::int64_t{4});
  const Called dense("Dense", under("mixed_bfloat16", of_dense), {f32({3})});
  EXPECT_EQ(dense.graph.type(dense.output).dtype, Dtype::f32);
  EXPECT_EQ(dense.layer->infer({{f32({3})}}), f32({4}));
  const Called plain("Dense", under("bfloat16", of_dense), {f32({3})});
  EXPECT_EQ(plain.graph.type(plain.output).dtype, Dtype::bf16);
}

TEST(Policy, BatchNormalizationKeepsFloat32Statistics) {
  const Called norm("BatchNormalization", under("mixed_float16"), {f32({3})}, true);
  for (const VariablePtr& variable : norm.layer->variables()) EXPECT_EQ(variable->type, f32({3}));
  EXPECT_EQ(norm.graph.type(norm.output).dtype, Dtype::f16);
  EXPECT_THAT(norm.ops(), ElementsAre("cast", "batch_norm", "moving_average", "moving_average"));
}

TEST(Policy, InputsOfOtherTypesAreCastAndIntegersAreNot) {
  const TensorType narrow{{3}, Dtype::bf16};
  const Called add("Add", {}, {f32({3}), narrow});
  EXPECT_EQ(add.graph.type(add.output).dtype, Dtype::f32);
  EXPECT_EQ(make_layer("Flatten", under("mixed_bfloat16"))->infer({{{{2, 2}, Dtype::i64}}}).dtype, Dtype::i64);
}

TEST(Policy, UnknownOnesAreRefused) {
  EXPECT_ERROR(
      "unknown dtype or policy 'mixed_int8' (known: float32, float16, bfloat16, "
      "mixed_float16, mixed_bfloat16; or a type of integers)",
      make_layer("Dense", under("mixed_int8", {{"units", std::int64_t{4}}})));
}

TEST(Dense, Refuses) {
  EXPECT_ERROR("layer 'dense' (Dense): expects [..., features] per example, got float32[]",
               infer("Dense", {{"units", std::int64_t{4}}}, {f32({})}));
  EXPECT_ERROR("layer 'dense' (Dense): expects floating-point input, got int64[3]",
               infer("Dense", {{"units", std::int64_t{4}}}, {{{3}, Dtype::i64}}));
  EXPECT_ERROR("Dense: units must be at least 1, got 0", infer("Dense", {{"units", std::int64_t{0}}}, {f32({3})}));
  EXPECT_ERROR(HasSubstr("Dense: unknown activation 'rely' (did you mean 'relu'?) (known: linear, relu, sigmoid"),
               infer("Dense", {{"units", std::int64_t{1}}, {"activation", std::string("rely")}}, {f32({3})}));
  const Called dense("Dense", {{"units", std::int64_t{4}}}, {f32({3})});
  const TensorType other = f32({5});
  EXPECT_ERROR("layer 'dense' (Dense): was built for 3 features, got float32[5]",
               dense.layer->infer(std::span(&other, 1)));
}

const ConfigEntries conv = {{"filters", std::int64_t{32}}, {"kernel_size", Shape{3, 3}}};

TEST(Conv2D, CountsWindows) {
  EXPECT_EQ(infer("Conv2D", conv, {f32({28, 28, 1})}), (Shape{26, 26, 32}));
  ConfigEntries same = conv;
  same.emplace_back("padding", std::string("same"));
  same.emplace_back("strides", std::int64_t{2});
  EXPECT_EQ(infer("Conv2D", same, {f32({27, 28, 1})}), (Shape{14, 14, 32}));
}

TEST(Conv2D, AddsItsNodes) {
  const Called layer("Conv2D", conv, {f32({28, 28, 3})});
  EXPECT_EQ(layer.shape(), (Shape{8, 26, 26, 32}));
  EXPECT_EQ(layer.layer->variables()[0]->type, f32({3, 3, 3, 32}));
  EXPECT_THAT(layer.ops(), ElementsAre("conv2d", "bias_add"));
}

TEST(Conv2D, Refuses) {
  EXPECT_ERROR("layer 'conv2d' (Conv2D): expects [height, width, channels] per example, got float32[784]",
               infer("Conv2D", conv, {f32({784})}));
  EXPECT_ERROR(
      "layer 'conv2d' (Conv2D): a window of [3, 3] does not fit into float32[2, 28, 1]; "
      "use padding = 'same' or a smaller window",
      infer("Conv2D", conv, {f32({2, 28, 1})}));
  EXPECT_ERROR("Conv2D: kernel_size must be one or two positive integers, got [1, 2, 3]",
               infer("Conv2D", {{"filters", std::int64_t{2}}, {"kernel_size", Shape{1, 2, 3}}}, {f32({2, 2, 1})}));
  ConfigEntries full = conv;
  full.emplace_back("padding", std::string("full"));
  EXPECT_ERROR("layer 'conv2d' (Conv2D): padding must be 'same' or 'valid', got 'full'",
               infer("Conv2D", full, {f32({9, 9, 1})}));
}

TEST(Pooling, TakesStridesFromTheWindow) {
  EXPECT_EQ(infer("MaxPooling2D", {}, {f32({26, 27, 8})}), (Shape{13, 13, 8}));
  EXPECT_EQ(infer("AveragePooling2D", {{"pool_size", std::int64_t{3}}, {"strides", std::int64_t{1}}}, {f32({5, 5, 2})}),
            (Shape{3, 3, 2}));
  EXPECT_EQ(infer("MaxPooling2D", {{"padding", std::string("same")}}, {f32({5, 5, 2})}), (Shape{3, 3, 2}));
  EXPECT_EQ(infer("GlobalAveragePooling2D", {}, {f32({5, 6, 2})}), (Shape{2}));
}

TEST(Pooling, AddsItsNodes) {
  EXPECT_THAT(Called("MaxPooling2D", {}, {f32({4, 4, 2})}).ops(), ElementsAre("max_pool2d"));
  EXPECT_THAT(Called("AveragePooling2D", {}, {f32({4, 4, 2})}).ops(), ElementsAre("average_pool2d"));
  EXPECT_EQ(Called("GlobalAveragePooling2D", {}, {f32({4, 4, 2})}).shape(), (Shape{8, 2}));
}

TEST(Pooling, Refuses) {
  EXPECT_ERROR(
      "layer 'max_pooling2d' (MaxPooling2D): expects [height, width, channels] per "
      "example, got float32[4]",
      infer("MaxPooling2D", {}, {f32({4})}));
  EXPECT_ERROR(HasSubstr("a window of [5, 5] does not fit into float32[4, 4, 1]"),
               infer("AveragePooling2D", {{"pool_size", std::int64_t{5}}}, {f32({4, 4, 1})}));
  EXPECT_ERROR(HasSubstr("expects [height, width, channels] per example, got float32[4]"),
               infer("GlobalAveragePooling2D", {}, {f32({4})}));
}

TEST(Flatten, JoinsAllButTheBatch) {
  EXPECT_EQ(Called("Flatten", {}, {f32({4, 3, 2})}).shape(), (Shape{8, 24}));
  EXPECT_EQ(Called("Flatten", {}, {f32({})}).shape(), (Shape{8, 1}));
  EXPECT_ERROR("layer 'flatten' (Flatten): takes one input, got 2", infer("Flatten", {}, {f32({1}), f32({1})}));
}

TEST(Reshape, FillsInOneSize) {
  EXPECT_EQ(Called("Reshape", {{"target_shape", Shape{-1, 2}}}, {f32({3, 4})}).shape(), (Shape{8, 6, 2}));
  EXPECT_ERROR("layer 'reshape' (Reshape): cannot turn float32[3, 4] (12 elements) into [5]",
               infer("Reshape", {{"target_shape", Shape{5}}}, {f32({3, 4})}));
  EXPECT_ERROR(HasSubstr("at most one -1, got [-1, -1]"),
               infer("Reshape", {{"target_shape", Shape{-1, -1}}}, {f32({3, 4})}));
}

TEST(Dropout, ActsInTrainingOnly) {
  EXPECT_THAT(Called("Dropout", {{"rate", 0.5}}, {f32({3})}, true).ops(), ElementsAre("dropout"));
  EXPECT_THAT(Called("Dropout", {{"rate", 0.5}}, {f32({3})}, false).ops(), ElementsAre());
  EXPECT_ERROR("Dropout: rate must be at least 0 and below 1, got 1", infer("Dropout", {{"rate", 1.0}}, {f32({3})}));
}

TEST(Dropout, DrawsApartInEachApplicationAndAlikeForPartsOfABatch) {
  Called called("Dropout", {{"rate", 0.5}, {"seed", std::int64_t{4}}}, {f32({3, 2})}, true);
  Graph& graph = called.graph;
  const Value x = graph.node(called.output).inputs[0], step = graph.node(called.output).inputs[1];
  const auto drawn = [&](const CallContext& context) {
    return graph.node(called.layer->call(context, std::span(&x, 1))).op->attributes();
  };
  EXPECT_EQ(graph.node(called.output).op->attributes(), "rate=0.5 seed=4");
  EXPECT_EQ(drawn({graph, true, step}), "rate=0.5 seed=4294967300");  // 4 + 2^32
  const std::size_t second_part = graph.nodes().size();
  EXPECT_EQ(drawn({graph, true, step, 8, second_part}), "rate=0.5 seed=4 first=48");
  EXPECT_EQ(drawn({graph, true, step, 8, second_part}), "rate=0.5 seed=4294967300 first=48");
}

TEST(Dropout, NeedsAStepInTraining) {
  const LayerPtr layer = make_layer("Dropout", {{"rate", 0.5}});
  Graph graph;
  const Value x = graph.input(f32({2, 3}), "x");
  EXPECT_ERROR(HasSubstr("draws by the step counter in training, but this call has none"),
               layer->call({graph, true}, std::span(&x, 1)));
}

TEST(BatchNormalization, ExchangesItsStatisticsOnlyWhereTheyAreAReplicas) {
  Called called("BatchNormalization", {{"synchronized", true}}, {f32({4, 4, 3})}, true);
  EXPECT_THAT(called.ops(), ElementsAre("batch_norm", "moving_average", "moving_average"));
  const auto added = [&](bool training, const std::optional<ReplicaCall>& replica) {
    const std::size_t before = called.ops().size();
    const Value x = called.graph.input(f32({8, 4, 4, 3}), "x");
    called.layer->call({.graph = called.graph, .training = training, .replica = replica}, std::span(&x, 1));
    const std::vector<std::string> ops = called.ops();
    return std::vector<std::string>(ops.begin() + static_cast<std::ptrdiff_t>(before), ops.end());
  };
  EXPECT_THAT(added(true, {}), ElementsAre("batch_norm", "moving_average", "moving_average"));
  EXPECT_THAT(added(true, ReplicaCall{.batch_rows = 24}),
              ElementsAre("batch_norm", "mul", "all_reduce", "sub", "square", "add", "mul", "all_reduce",
                          "batch_norm_inference", "moving_average", "moving_average"));
  EXPECT_ERROR(HasSubstr("it normalizes the rows that each replica was given of a batch"), added(true, ReplicaCall{}));
  EXPECT_THAT(added(false, ReplicaCall{.batch_rows = 24}), ElementsAre("batch_norm_inference"));
}

TEST(BatchNormalization, UpdatesItsAveragesInTraining) {
  const Called training("BatchNormalization", {}, {f32({4, 4, 3})}, true);
  EXPECT_THAT(training.variables.names,
              ElementsAre("batch_normalization/gamma", "batch_normalization/beta", "batch_normalization/moving_mean",
                          "batch_normalization/moving_variance"));
  EXPECT_FALSE(training.layer->variables()[2]->trainable);
  EXPECT_THAT(training.ops(), ElementsAre("batch_norm", "moving_average", "moving_average"));
  EXPECT_THAT(Called("BatchNormalization", {}, {f32({3})}, false).ops(), ElementsAre("batch_norm_inference"));
  EXPECT_THAT(Called("BatchNormalization", {{"trainable", false}}, {f32({3})}, true).ops(),
              ElementsAre("batch_norm_inference"));
  EXPECT_ERROR(HasSubstr("expects [..., channels] per example, got float32[]"),
               infer("BatchNormalization", {}, {f32({})}));
  const Called plain("BatchNormalization", {{"center", false}, {"scale", false}}, {f32({3})}, true);
  EXPECT_THAT(plain.variables.names,
              ElementsAre("batch_normalization/moving_mean", "batch_normalization/moving_variance"));
}

TEST(BatchNormalization, NormalizesAnyAxisButTheBatch) {
  const ConfigEntries first{{"axis", std::int64_t{1}}};
  const Called rows("BatchNormalization", first, {f32({5, 3})});
  EXPECT_EQ(rows.layer->variables()[0]->type, f32({5}));
  EXPECT_THAT(rows.ops(), ElementsAre("transpose", "batch_norm_inference", "transpose"));
  EXPECT_EQ(rows.layer->channels(), Channels::unknown);
  EXPECT_FALSE(rows.layer->normalization());
  const Called columns("BatchNormalization", {{"axis", std::int64_t{2}}}, {f32({5, 3})});
  EXPECT_EQ(columns.layer->channels(), Channels::kept);
  EXPECT_ERROR(HasSubstr("axis 0 is the batch or not there; float32[3] per example has the axes 1 to 1 or -1 to -1"),
               infer("BatchNormalization", {{"axis", std::int64_t{0}}}, {f32({3})}));
  EXPECT_ERROR(HasSubstr("was built for 5 channels, got float32[4, 3]"), rows.layer->infer(std::vector{f32({4, 3})}));
}

TEST(Activation, AppliesItsFunction) {
  for (const char* name : {"relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "softmax", "log_softmax", "relu6",
                           "leaky_relu", "elu", "silu", "softplus"}) {
    EXPECT_THAT(Called("Activation", {{"activation", std::string(name)}}, {f32({3})}).ops(), ElementsAre(name));
  }
  EXPECT_ERROR("Activation: option 'activation' is required; it is a string", infer("Activation", {}, {f32({3})}));
}

TEST(Add, SumsInputsOfOneType) {
  EXPECT_THAT(Called("Add", {}, {f32({3}), f32({3}), f32({3})}).ops(), ElementsAre("add", "add"));
  EXPECT_ERROR(
      "layer 'add' (Add): needs inputs of one type, whose extents are equal or 1, got "
      "float32[3] and float32[4]",
      infer("Add", {}, {f32({3}), f32({4})}));
  EXPECT_ERROR("layer 'add' (Add): needs at least two inputs, got 1", infer("Add", {}, {f32({3})}));
}

TEST(Concatenate, JoinsAlongAnAxis) {
  EXPECT_EQ(Called("Concatenate", {}, {f32({4, 4, 1}), f32({4, 4, 2})}).shape(), (Shape{8, 4, 4, 3}));
  EXPECT_EQ(Called("Concatenate", {{"axis", std::int64_t{1}}}, {f32({2, 4}), f32({3, 4})}).shape(), (Shape{8, 5, 4}));
  EXPECT_ERROR(
      "layer 'concatenate' (Concatenate): inputs may differ along axis 2 only, got "
      "float32[4, 2] and float32[5, 2]",
      infer("Concatenate", {}, {f32({4, 2}), f32({5, 2})}));
  EXPECT_ERROR(HasSubstr("axis 0 is the batch or not there"),
               infer("Concatenate", {{"axis", std::int64_t{0}}}, {f32({4}), f32({5})}));
}

TEST(Input, DeclaresAType) {
  EXPECT_EQ(infer("Input", {{"shape", Shape{28, 28, 1}}}, {}), (Shape{28, 28, 1}));
  EXPECT_ERROR(HasSubstr("shape must list positive sizes of one example"),
               infer("Input", {{"shape", Shape{28, 0}}}, {}));
}

TEST(LayerKinds, UnknownLayer) {
  EXPECT_ERROR(HasSubstr("unknown layer 'Danse' (did you mean 'Dense'?) (known: Input, Activation, Add, "),
               make_layer("Danse"));
  EXPECT_ERROR(HasSubstr("unknown layer 'Linear'; here: gb.layers.Dense(units)"), make_layer("Linear"));
}

TEST(Layer, BuildsOnTheDeviceOfItsScope) {
  FakeVariables variables;
  const DeviceId second{DeviceId::Kind::cpu, 1, ""};
  const LayerPtr layer = make_layer("Dense", {{"units", std::int64_t{2}}, {"name", std::string("head")}}, second);
  const TensorType example = f32({3});
  layer->build(variables, std::span(&example, 1));
  EXPECT_EQ(layer->variables()[0]->device, second);
  EXPECT_EQ(layer->variables()[0]->name, "head/kernel");
  Graph graph;
  const Value x = graph.input(f32({1, 3}), "x");
  EXPECT_EQ(graph.node(layer->call({graph}, std::span(&x, 1))).device, second);
  EXPECT_EQ(graph.device(), DeviceId{});
}

TEST(Layer, IsFrozenByItsOptionAndLater) {
  const Called frozen("Dense", {{"units", std::int64_t{2}}, {"trainable", false}}, {f32({3})});
  EXPECT_FALSE(frozen.layer->trainable());
  frozen.layer->set_trainable(true);
  EXPECT_TRUE(frozen.layer->trainable());
  EXPECT_EQ(frozen.layer->variables().size(), 2U);
}

}  // namespace
}  // namespace gpubench
