// Layers that look at more than a row: replicas draw, and normalize if they are told to, as one device with the whole
// batch does.
#include <gmock/gmock.h>
#include <set>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/exec/replicated_executor.h"
#include "core/nn/architecture.h"
#include "core/ops/elementwise.h"
#include "tests/core/train/fixture.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"
#include "tests/support/formula_function.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::dense;
using support::flat;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

class ReplicaLayers : public ::testing::Test {
 protected:
  ReplicasPtr replicas(int count, std::vector<double> shares = {}) {
    ReplicaOptions options{.devices = {}, .shares = std::move(shares)};
    for (int i = 0; i < count; ++i) {
      options.devices.push_back(DeviceId{DeviceId::Kind::cpu, static_cast<std::int16_t>(i), {}});
    }
    return std::make_shared<Replicas>(runtime, std::move(options), nullptr);
  }

  CompileConfig config(ReplicasPtr with) {
    CompileConfig result{make_optimizer("sgd", {{"learning_rate", 0.1}}),
                         {make_loss("categorical_crossentropy")},
                         {make_metric("accuracy")},
                         {}};
    result.replicas = std::move(with);
    return result;
  }

  /// All weights and statistics after two epochs of a batch of 32, one of 32 and one of `last` examples.
  std::vector<float> train(const std::vector<LayerPtr>& layers, CompileConfig config, std::int64_t last = 32,
                           float offset = 0) {
    Blobs blobs(64 + last);
    for (float& value : blobs.points.values<float>()) value += offset;
    seed = 3;
    Trainer trained(runtime, factory, std::make_shared<Model>("layered", layers), std::move(config));
    fit(trained, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 2});
    return flat(trained.weights());
  }

  Devices devices{support::cpu_devices(std::vector<LogicalDevice>(3, {.threads = 1}))};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
};

std::vector<LayerPtr> dropped(double rate = 0.4) {
  const LayerPtr twice = make_layer("Dropout", {{"rate", rate}});
  return {dense(9, "tanh", {4}), twice, dense(5, "tanh"), twice, dense(3, "softmax")};
}

TEST_F(ReplicaLayers, DropWhatOneDeviceDrops) {
  for (const std::int64_t last : {32, 31, 2}) {
    const std::vector<float> alone = train(dropped(), config(nullptr), last);
    EXPECT_THAT(train(dropped(0), config(nullptr), last), Not(Pointwise(::testing::FloatNear(1e-3F), alone)));
    for (const int count : {1, 2, 3}) {
      EXPECT_THAT(train(dropped(), config(replicas(count)), last), Pointwise(::testing::FloatNear(2e-6F), alone))
          << count << " replicas, last batch of " << last;
    }
    EXPECT_THAT(train(dropped(), config(replicas(2, {3, 1})), last), Pointwise(::testing::FloatNear(2e-6F), alone));
  }
}

TEST_F(ReplicaLayers, DropTheSameInEagerExecutionInPartsAndRecomputed) {
  const std::vector<float> alone = train(dropped(), config(nullptr));
  CompileConfig eager = config(replicas(2));
  eager.executor.execution = Execution::eager;
  EXPECT_THAT(train(dropped(), std::move(eager)), Pointwise(::testing::FloatNear(2e-6F), alone));
  CompileConfig in_parts = config(replicas(2));
  in_parts.gradient_accumulation_steps = 4;
  EXPECT_THAT(train(dropped(), std::move(in_parts)), Pointwise(::testing::FloatNear(2e-6F), alone));
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"dropout", "dense_1"};
  EXPECT_THAT(train(dropped(), std::move(recomputed)), Pointwise(::testing::FloatNear(2e-6F), alone));
}

std::vector<LayerPtr> dropped_states(double rate = 0.3) {
  const ConfigEntries sequence{
      {"units", std::int64_t{5}}, {"dropout", rate}, {"recurrent_dropout", rate}, {"return_sequences", true}};
  const std::string gru =
      layer_to_text(*make_layer("GRU", {{"units", std::int64_t{3}}, {"dropout", rate}, {"recurrent_dropout", rate}}));
  return {make_layer("Reshape", {{"target_shape", Shape{2, 2}}, {"input_shape", Shape{4}}}),
          make_layer("LSTM", sequence), make_layer("Bidirectional", {{"layer", gru}}), dense(3, "softmax")};
}

TEST_F(ReplicaLayers, DropTheStatesThatOneDeviceDrops) {
  const std::vector<float> alone = train(dropped_states(), config(nullptr), 31);
  EXPECT_THAT(train(dropped_states(0), config(nullptr), 31), Not(Pointwise(::testing::FloatNear(1e-3F), alone)));
  for (const int count : {2, 3}) {
    EXPECT_THAT(train(dropped_states(), config(replicas(count)), 31), Pointwise(::testing::FloatNear(2e-6F), alone));
  }
  CompileConfig in_parts = config(replicas(2));
  in_parts.gradient_accumulation_steps = 4;
  EXPECT_THAT(train(dropped_states(), std::move(in_parts)),
              Pointwise(::testing::FloatNear(2e-6F), train(dropped_states(), config(nullptr))));
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"lstm"};
  EXPECT_THAT(train(dropped_states(), std::move(recomputed), 31), Pointwise(::testing::FloatNear(2e-6F), alone));
}

std::vector<LayerPtr> normalized(bool synchronized, const ConfigEntries& also = {}) {
  ConfigEntries options{{"synchronized", synchronized}, {"momentum", 0.8}};
  options.insert(options.end(), also.begin(), also.end());
  ConfigEntries first = options;
  first.emplace_back("input_shape", Shape{4});
  return {make_layer("BatchNormalization", first), dense(8, "tanh"), make_layer("BatchNormalization", options),
          dense(3, "softmax")};
}

TEST_F(ReplicaLayers, NormalizeByTheWholeBatch) {
  for (const std::int64_t last : {32, 31, 5, 3}) {
    const std::vector<float> alone = train(normalized(false), config(nullptr), last);
    EXPECT_EQ(train(normalized(true), config(nullptr), last), alone);
    for (const int count : {1, 2, 3}) {
      EXPECT_THAT(train(normalized(true), config(replicas(count)), last), Pointwise(::testing::FloatNear(2e-5F), alone))
          << count << " replicas, last batch of " << last;
    }
    if (last < 6) continue;
    EXPECT_THAT(train(normalized(true), config(replicas(2, {5, 1})), last),
                Pointwise(::testing::FloatNear(2e-5F), alone));
    EXPECT_THAT(train(normalized(false), config(replicas(2)), last),
                Not(Pointwise(::testing::FloatNear(1e-3F), alone)));
  }
}

TEST_F(ReplicaLayers, NormalizeFarFromZero) {
  // Squares of these would leave nothing of a variance of 0.04 in float32.
  const std::vector<float> alone = train(normalized(false), config(nullptr), 31, 3000);
  EXPECT_THAT(train(normalized(true), config(replicas(3)), 31, 3000), Pointwise(::testing::FloatNear(2e-3F), alone));
}

TEST_F(ReplicaLayers, NormalizeImages) {
  const auto layers = [](bool synchronized) {
    return std::vector{
        make_layer("Reshape", {{"target_shape", Shape{2, 2, 1}}, {"input_shape", Shape{4}}}),
        make_layer("Conv2D",
                   {{"filters", std::int64_t{5}}, {"kernel_size", std::int64_t{2}}, {"padding", std::string("same")}}),
        make_layer("BatchNormalization", {{"synchronized", synchronized}}), make_layer("Flatten"), dense(3, "softmax")};
  };
  const std::vector<float> alone = train(layers(false), config(nullptr), 7);
  EXPECT_THAT(train(layers(true), config(replicas(2)), 7), Pointwise(::testing::FloatNear(2e-5F), alone));
}

TEST_F(ReplicaLayers, NormalizeIn16BitsEagerlyAndRecomputed) {
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    const ConfigEntries mixed{{"dtype", std::string(policy)}};
    const std::vector<float> alone = train(normalized(false, mixed), config(nullptr), 31);
    EXPECT_THAT(train(normalized(true, mixed), config(replicas(2)), 31), Pointwise(::testing::FloatNear(2e-2F), alone))
        << policy;
  }
  const std::vector<float> alone = train(normalized(false), config(nullptr));
  CompileConfig eager = config(replicas(2));
  eager.executor.execution = Execution::eager;
  EXPECT_THAT(train(normalized(true), std::move(eager)), Pointwise(::testing::FloatNear(2e-5F), alone));
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"batch_normalization_1"};
  EXPECT_THAT(train(normalized(true), std::move(recomputed)), Pointwise(::testing::FloatNear(2e-5F), alone));
}

TEST_F(ReplicaLayers, FrozenNormalizationExchangesNothing) {
  const ReplicasPtr all = replicas(2);
  const auto frozen = [](bool synchronized) { return normalized(synchronized, {{"trainable", false}}); };
  const std::vector<float> alone = train(frozen(false), config(nullptr));
  EXPECT_THAT(train(frozen(true), config(all)), Pointwise(::testing::FloatNear(2e-6F), alone));
  EXPECT_EQ(all->communicator(0).times().collectives, 6);  // a bucket a step
}

TEST_F(ReplicaLayers, NormalizingTogetherNeedsAnExampleEach) {
  EXPECT_ERROR(HasSubstr("so small a batch leaves a replica without examples; leave it out by "
                         "dataset:batch(size, { drop_remainder = true })"),
               train(normalized(true), config(replicas(3)), 2));
}

class ReplicaRanges : public ReplicaLayers {
 protected:
  struct Trained {
    std::vector<float> ranges, weights;
  };
  /// Of layers that round as int8 would: points of one replica's rows are ten times as large.
  Trained train_rounded(CompileConfig config, std::int64_t last = 32, bool synchronized = false) {
    const auto aware = [](std::int64_t units, const char* activation, const Shape& input_shape) {
      return make_layer("Dense", {{"units", units},
                                  {"activation", std::string(activation)},
                                  {"input_shape", input_shape},
                                  {"quantization", std::string("aware")}});
    };
    std::vector<LayerPtr> layers{aware(8, "tanh", {4}), aware(3, "softmax", {})};
    if (synchronized) layers.insert(layers.begin() + 1, make_layer("BatchNormalization", {{"synchronized", true}}));
    const auto model = std::make_shared<Model>("rounded", layers);
    Blobs blobs(64 + last);
    for (std::size_t row = 0; row < 64; row += 32) {
      for (std::size_t i = 0; i < 16; ++i) blobs.points.values<float>()[4 * row + i] *= 10;
    }
    seed = 3;
    Trainer trained(runtime, factory, model, std::move(config));
    fit(trained, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 2});
    Trained result{.ranges = {}, .weights = flat(trained.weights())};
    for (const VariablePtr& variable : model->variables()) {
      if (!variable->name.ends_with("/input_range")) continue;
      result.ranges.push_back(runtime.variables().read(*variable).values<float>()[0]);
    }
    return result;
  }
};

TEST_F(ReplicaRanges, AreThoseOfTheWholeBatch) {
  for (const std::int64_t last : {32, 31, 2}) {  // of 2 examples one of 3 replicas has none
    const Trained alone = train_rounded(config(nullptr), last);
    ASSERT_EQ(alone.ranges.size(), 2U);
    EXPECT_GT(alone.ranges[0], 8);
    for (const int count : {1, 2, 3}) {
      const Trained together = train_rounded(config(replicas(count)), last);
      EXPECT_NEAR(together.ranges[0], alone.ranges[0], 1e-5) << count << " replicas, last batch of " << last;
      EXPECT_NEAR(together.ranges[1], alone.ranges[1], 1e-4);
      // A sum in another order may be rounded to the next of the 255 steps.
      EXPECT_THAT(together.weights, Pointwise(::testing::FloatNear(2e-3F), alone.weights));
    }
    EXPECT_NEAR(train_rounded(config(replicas(2, {3, 1})), last).ranges[0], alone.ranges[0], 1e-5);
  }
}

TEST_F(ReplicaRanges, AreTheSameInEagerExecutionAndRecomputed) {
  const Trained alone = train_rounded(config(nullptr));
  CompileConfig eager = config(replicas(2));
  eager.executor.execution = Execution::eager;
  EXPECT_NEAR(train_rounded(std::move(eager)).ranges[0], alone.ranges[0], 1e-5);
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"dense_1"};
  const Trained again = train_rounded(std::move(recomputed));
  EXPECT_NEAR(again.ranges[0], alone.ranges[0], 1e-5);
  EXPECT_THAT(again.weights, Pointwise(::testing::FloatNear(2e-3F), alone.weights));
}

TEST_F(ReplicaRanges, ExchangesOfABackwardPassStillNeedAnExampleEach) {
  EXPECT_ERROR(HasSubstr("so small a batch leaves a replica without examples"),
               train_rounded(config(replicas(3)), 2, true));
}

/// Applies layers, and knows which kinds of them.
class Kinds {
 public:
  SymbolPtr operator()(std::string_view kind, const ConfigEntries& options, std::vector<SymbolPtr> inputs) {
    used_.emplace(kind);
    return apply_layer(make_layer(kind, options), std::move(inputs));
  }
  /// A layer inside of another one.
  LayerPtr part(std::string_view kind, const ConfigEntries& options) {
    used_.emplace(kind);
    return make_layer(kind, options);
  }
  void expect_all() const {
    // Its inputs are integers, which this model has none of; tests of Lua train it.
    for (const LayerKind& kind : layer_kinds()) {
      const bool of_integers = kind.name.ends_with("Embedding") || kind.name == "CategoryEncoding";
      EXPECT_TRUE(used_.contains(kind.name) || of_integers) << kind.name << " is not tried";
    }
  }

 private:
  std::set<std::string> used_;
};

constexpr std::int64_t one = 1, two = 2, three = 3;

/// Of [batch, 4]: what moves and brightens images, which stands in front of all weights, because no gradient passes it.
SymbolPtr moved(Kinds& apply, const SymbolPtr& input) {
  SymbolPtr image = apply("Reshape", {{"target_shape", Shape{2, 2, 1}}}, {input});
  image = apply("Resizing", {{"height", three}, {"width", three}}, {image});
  image = apply("RandomCrop", {{"height", two}, {"width", two}}, {image});
  image = apply("RandomFlip", {}, {image});
  for (const char* kind : {"RandomRotation", "RandomContrast", "RandomBrightness"})
    image = apply(kind, {{"factor", 0.1}}, {image});
  image = apply("RandomTranslation", {{"height_factor", 0.1}, {"width_factor", 0.1}}, {image});
  image = apply("RandomZoom", {{"height_factor", 0.1}}, {image});
  const SymbolPtr flat = apply("Flatten", {}, {apply("Rescaling", {{"scale", 0.5}}, {image})});
  const std::vector<double> bounds{-0.5, 0.25};
  const ConfigEntries ranges{{"bin_boundaries", bounds}, {"output_mode", std::string("count")}};
  return apply("Concatenate", {}, {flat, apply("Discretization", ranges, {flat})});
}

/// Of [batch, 4, 4], and again [batch, 4, 4].
SymbolPtr disturbed(Kinds& apply, SymbolPtr sequence) {
  sequence = apply("GaussianNoise", {{"stddev", 0.1}}, {sequence});
  sequence = apply("Cropping1D", {}, {apply("ZeroPadding1D", {}, {sequence})});
  sequence = apply("UpSampling1D", {}, {apply("SpatialDropout1D", {{"rate", 0.25}}, {sequence})});
  sequence = apply("Conv1DTranspose", {{"filters", std::int64_t{4}}, {"kernel_size", two}}, {sequence});
  sequence = apply("GroupNormalization", {{"groups", two}}, {sequence});
  sequence = apply("Attention", {{"dropout", 0.25}}, {sequence, sequence});
  sequence = apply("AdditiveAttention", {{"dropout", 0.25}}, {sequence, sequence});
  return apply("Dot", {{"axes", one}, {"normalize", true}}, {sequence, sequence});
}

/// Of [batch, 4, 4].
std::vector<SymbolPtr> of_sequences(Kinds& apply, SymbolPtr sequence) {
  sequence = disturbed(apply, std::move(sequence));
  sequence = apply("LayerNormalization", {}, {apply("Permute", {{"dims", Shape{2, 1}}}, {sequence})});
  sequence = apply("MultiHeadAttention", {{"num_heads", two}, {"key_dim", two}}, {sequence, sequence});
  sequence = apply("RMSNormalization", {}, {sequence});
  sequence = apply("GroupQueryAttention", {{"head_dim", two}, {"num_query_heads", two}, {"num_key_value_heads", one}},
                   {sequence, sequence});
  sequence = apply("Conv1D", {{"filters", three}, {"kernel_size", two}, {"padding", std::string("same")}}, {sequence});
  const std::string dense_text = layer_to_text(*make_layer("Dense", {{"units", three}}));
  const std::string lstm_text = layer_to_text(*make_layer("LSTM", {{"units", two}, {"return_sequences", true}}));
  sequence = apply("TimeDistributed", {{"layer", dense_text}}, {sequence});
  sequence = apply("Bidirectional", {{"layer", lstm_text}}, {sequence});
  const std::string cells =
      layers_to_text({apply.part("LSTMCell", {{"units", two}}), apply.part("GRUCell", {{"units", three}}),
                      apply.part("SimpleRNNCell", {{"units", two}})});
  const std::string stack_text = layer_to_text(*apply.part("StackedRNNCells", {{"cells", cells}}));
  sequence = apply("Masking", {}, {sequence});
  sequence = apply("RNN", {{"cell", stack_text}, {"return_sequences", true}}, {sequence});
  sequence = apply("SimpleRNN", {{"units", two}, {"return_sequences", true}}, {sequence});
  const SymbolPtr pooled =
      apply("MaxPooling1D", {}, {apply("LSTM", {{"units", two}, {"return_sequences", true}}, {sequence})});
  return {apply("GRU", {{"units", three}}, {apply("AveragePooling1D", {}, {sequence})}),
          apply("GlobalAveragePooling1D", {}, {pooled}), apply("GlobalMaxPooling1D", {}, {pooled}),
          apply("Flatten", {}, {apply("RepeatVector", {{"n", two}}, {apply("GlobalMaxPooling1D", {}, {sequence})})})};
}

/// Of [batch, 4, 4, 3].
std::vector<SymbolPtr> of_images(Kinds& apply, const SymbolPtr& image) {
  const ConfigEntries small{{"kernel_size", two}, {"padding", std::string("same")}};
  ConfigEntries filters = small;
  filters.emplace_back("filters", three);
  SymbolPtr x = apply("DepthwiseConv2D", small, {apply("ZeroPadding2D", {}, {image})});
  x = apply("SeparableConv2D", filters, {apply("ReLU", {}, {x})});
  x = apply("Conv2DTranspose", filters, {apply("LeakyReLU", {}, {x})});
  x = apply("Cropping2D", {{"cropping", Shape{1, 1}}}, {apply("Identity", {}, {x})});
  x = apply("SpatialDropout2D", {{"rate", 0.25}}, {apply("PReLU", {}, {x})});
  x = apply("AlphaDropout", {{"rate", 0.25}}, {apply("GaussianDropout", {{"rate", 0.25}}, {x})});
  x = apply("UpSampling2D", {}, {apply("ELU", {}, {x})});
  x = apply("Normalization", {{"mean", 0.5}, {"variance", 2.0}}, {x});
  const SymbolPtr mean = apply("GlobalAveragePooling2D", {}, {x}), most = apply("GlobalMaxPooling2D", {}, {x});
  std::vector<SymbolPtr> joined;
  for (const char* kind : {"Subtract", "Multiply", "Average", "Maximum", "Minimum"})
    joined.push_back(apply(kind, {}, {mean, most}));
  joined.push_back(apply("Softmax", {}, {mean}));
  return joined;
}

/// All kinds of layers, each of which some output depends on.
ModelPtr with_every_kind() {
  Kinds apply;
  const SymbolPtr input = apply("Input", {{"shape", Shape{4}}}, {});
  const SymbolPtr wide = apply("Dense", {{"units", std::int64_t{16}}}, {moved(apply, input)});
  const SymbolPtr image = apply("Reshape", {{"target_shape", Shape{4, 4, 1}}}, {wide});
  const SymbolPtr filtered =
      apply("Conv2D", {{"filters", three}, {"kernel_size", three}, {"padding", std::string("same")}}, {image});
  const SymbolPtr normal = apply("BatchNormalization", {{"synchronized", true}}, {filtered});
  const SymbolPtr active = apply("Activation", {{"activation", std::string("tanh")}}, {normal});
  const SymbolPtr sum =
      apply("Add", {}, {apply("MaxPooling2D", {}, {active}), apply("AveragePooling2D", {}, {active})});
  std::vector<SymbolPtr> parts{apply("Flatten", {}, {sum}), apply("GlobalAveragePooling2D", {}, {active})};
  for (const SymbolPtr& part : of_sequences(apply, apply("Reshape", {{"target_shape", Shape{4, 4}}}, {wide})))
    parts.push_back(part);
  for (const SymbolPtr& part : of_images(apply, active)) parts.push_back(part);
  const SymbolPtr all = apply("Concatenate", {}, parts);
  const auto halved =
      support::formula_function([](Graph& graph, Value x, auto&) { return ops::mul(graph, x, graph.constant(0.5F)); });
  const auto scaled = support::formula_function(
      [](Graph& graph, Value x, const VariablePtr& weight) { return ops::mul(graph, x, graph.variable(weight)); },
      true);
  const SymbolPtr functions = apply("custom", {{"function", scaled}}, {apply("Lambda", {{"function", halved}}, {all})});
  const SymbolPtr dropped = apply("Dropout", {{"rate", 0.25}}, {functions});
  apply.expect_all();
  return std::make_shared<Model>("all", std::vector{input}, std::vector{apply_layer(dense(3, "softmax"), {dropped})});
}

TEST_F(ReplicaLayers, EveryKindTrainsEvaluatesAndPredictsAsOnOneDevice) {
  const Blobs blobs(37);
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 16);  // 16, 16 and 5
  const auto results = [&](ReplicasPtr with) {
    seed = 3;
    Trainer trained(runtime, factory, with_every_kind(), config(std::move(with)));
    fit(trained, *data, {.epochs = 2});
    std::vector<float> all = flat(trained.weights());
    for (const auto& [name, value] : trained.evaluate(*data)) all.push_back(static_cast<float>(value));
    const std::vector<float> predicted = flat(trained.predict(*data));
    all.insert(all.end(), predicted.begin(), predicted.end());
    return all;
  };
  const std::vector<float> alone = results(nullptr);
  EXPECT_THAT(results(replicas(2)), Pointwise(::testing::FloatNear(2e-5F), alone));
  EXPECT_THAT(results(replicas(3)), Pointwise(::testing::FloatNear(2e-5F), alone));
}

}  // namespace
}  // namespace gpubench
