// Every kind of layer on replicas.
#include <gmock/gmock.h>
#include <set>
#include <string_view>

#include "core/nn/architecture.h"
#include "core/ops/elementwise.h"
#include "tests/core/train/replica_layers.h"
#include "tests/support/formula_function.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::dense;
using support::flat;
using ::testing::Pointwise;

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
