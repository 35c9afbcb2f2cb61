#include "core/train/compress/shrink.h"

#include <gmock/gmock.h>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::flat;

class Shrink : public support::TrainTest {
 protected:
  static LayerPtr layer(const char* kind, ConfigEntries options) { return make_layer(kind, options); }

  /// Units and filters 0 and 2 of four have weights of zero everywhere: without them the model answers the same.
  void empty_even_outputs(const Model& model) {
    for (const VariablePtr& variable : model.variables()) {
      if (variable->type.shape.back() != 4) continue;
      HostTensor values = runtime.variables().read(*variable);
      for (std::size_t i = 0; i < values.values<float>().size(); i += 2) values.values<float>()[i] = 0;
      runtime.variables().write(*variable, values);
    }
  }

  std::vector<float> answers(const ModelPtr& model, const Shape& example) {
    Shape shape = example;
    shape.insert(shape.begin(), 6);
    HostTensor x({shape, Dtype::f32});
    for (std::size_t i = 0; i < x.values<float>().size(); ++i)
      x.values<float>()[i] = 0.01F * static_cast<float>(i % 97);
    return flat(trainer(model).predict(*batch(from_tensor_slices({x}), 3)));
  }

  /// Two Dense layers, of which the second's output is added to the first's.
  static ModelPtr residual_model() {
    const SymbolPtr x = apply_layer(layer("Input", {{"shape", Shape{5}}}), {});
    const SymbolPtr first = apply_layer(support::dense(4, "relu"), {x});
    const SymbolPtr second = apply_layer(support::dense(4, "relu"), {first});
    const SymbolPtr sum = apply_layer(layer("Add", {}), {first, second});
    return std::make_shared<Model>("r", std::vector{x}, std::vector{apply_layer(support::dense(3, ""), {sum})});
  }

  void expect_same_answers(const ModelPtr& model, const std::map<std::string, double>& shares, const Shape& example) {
    model->build(factory);
    empty_even_outputs(*model);
    const ModelPtr smaller = shrink(runtime, factory, *model, shares);
    EXPECT_LT(flat(read_weights(runtime, *smaller)).size(), flat(read_weights(runtime, *model)).size());
    const std::vector<float> all = answers(model, example), less = answers(smaller, example);
    ASSERT_EQ(all.size(), less.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(less[i], all[i], 1e-5);
  }
};

TEST_F(Shrink, UnitsOfDenseLayers) {
  const auto model =
      std::make_shared<Model>("m", std::vector{support::dense(4, "relu", {5}), layer("Dropout", {{"rate", 0.5}}),
                                               support::dense(4, "relu"), support::dense(3, "softmax")});
  expect_same_answers(model, {{"dense", 0.5}, {"dense_1", 0.5}}, {5});
}

TEST_F(Shrink, FiltersThroughBatchNormPoolingAndFlatten) {
  const auto model = std::make_shared<Model>(
      "m", std::vector{layer("Conv2D", {{"filters", std::int64_t{4}},
                                        {"kernel_size", std::int64_t{3}},
                                        {"use_bias", false},
                                        {"input_shape", Shape{8, 8, 2}}}),
                       layer("BatchNormalization", {}), layer("Activation", {{"activation", std::string("relu")}}),
                       layer("Conv2D", {{"filters", std::int64_t{4}}, {"kernel_size", std::int64_t{3}}}),
                       layer("MaxPooling2D", {}), layer("Flatten", {}), support::dense(3, "softmax")});
  expect_same_answers(model, {{"conv2d", 0.5}, {"conv2d_1", 0.5}}, {8, 8, 2});
}

TEST_F(Shrink, LayersThatAreAddedLoseTheSameUnits) {
  expect_same_answers(residual_model(), {{"dense", 0.5}}, {5});
  expect_same_answers(residual_model(), {{"dense", 0.5}, {"dense_1", 0.5}}, {5});
}

TEST_F(Shrink, ConcatenatedBranches) {
  const SymbolPtr x = apply_layer(layer("Input", {{"shape", Shape{6, 6, 2}}}), {});
  const auto filters = [&](std::int64_t size) {
    return apply_layer(
        layer("Conv2D", {{"filters", std::int64_t{4}}, {"kernel_size", size}, {"padding", std::string("same")}}), {x});
  };
  const SymbolPtr both = apply_layer(layer("Concatenate", {}), {filters(1), filters(3)});
  const SymbolPtr flat = apply_layer(layer("Flatten", {}), {apply_layer(layer("BatchNormalization", {}), {both})});
  const auto model =
      std::make_shared<Model>("c", std::vector{x}, std::vector{apply_layer(support::dense(3, ""), {flat})});
  expect_same_answers(model, {{"conv2d", 0.5}, {"conv2d_1", 0.5}}, {6, 6, 2});
}

TEST_F(Shrink, ALayerThatIsCalledTwice) {
  const SymbolPtr x = apply_layer(layer("Input", {{"shape", Shape{4}}}), {});
  const LayerPtr shared = support::dense(4, "relu");
  const SymbolPtr first = apply_layer(support::dense(4, "relu"), {x});
  const SymbolPtr twice = apply_layer(shared, {apply_layer(shared, {first})});
  const auto model =
      std::make_shared<Model>("s", std::vector{x}, std::vector{apply_layer(support::dense(3, ""), {twice})});
  expect_same_answers(model, {{"dense", 0.5}, {"dense_1", 0.5}}, {4});
}

TEST_F(Shrink, KeepsOneUnitAndTheLayersNames) {
  const ModelPtr model = support::small_classifier();
  model->build(factory);
  const ModelPtr smaller = shrink(runtime, factory, *model, {{"dense", 0.99}});
  EXPECT_EQ(smaller->output_types(), model->output_types());
  EXPECT_EQ(smaller->layers()[1]->name(), model->layers()[1]->name());
  EXPECT_EQ(flat(read_weights(runtime, *smaller)).size(), 4u + 1 + 3 + 3);
}

TEST_F(Shrink, RefusesWhatItCannotDo) {
  const auto refused = [&](const ModelPtr& model, const std::map<std::string, double>& shares, const char* message) {
    EXPECT_ERROR(message, shrink(runtime, factory, *model, shares));
  };
  const ModelPtr model = support::small_classifier();
  refused(model, {}, "shrink: model 'small' has no weights yet");
  model->build(factory);
  refused(model, {{"dense_7", 0.5}}, "shrink: model 'small' has no Dense or Conv2D layer 'dense_7'");
  refused(model, {{"dense_1", 0.5}}, "shrink: the units of layer 'dense_1' are the model's answers; they all stay");
  refused(model, {{"dense", 1}}, "shrink: the share of layer 'dense' must be at least 0 and below 1, got 1");
  const SymbolPtr x = apply_layer(layer("Input", {{"shape", Shape{4}}}), {});
  const SymbolPtr hidden = apply_layer(support::dense(4, ""), {x});
  const SymbolPtr sum = apply_layer(layer("Add", {}), {hidden, x});
  const auto residual =
      std::make_shared<Model>("f", std::vector{x}, std::vector{apply_layer(support::dense(2, ""), {sum})});
  residual->build(factory);
  refused(residual, {{"dense", 0.5}},
          "shrink: the units of layer 'dense' join the model's input, whose channels all stay");
  const auto joined = residual_model();
  joined->build(factory);
  refused(joined, {{"dense", 0.5}, {"dense_1", 0.25}},
          "shrink: the outputs of layers 'dense' and 'dense_1' are joined, so that both lose the same units; give them "
          "one share, got 0.5 and 0.25");
  const ConfigEntries filters{{"filters", std::int64_t{4}}, {"kernel_size", std::int64_t{1}}};
  ConfigEntries first = filters, grouped = filters;
  first.emplace_back("input_shape", Shape{4, 4, 2});
  grouped.emplace_back("groups", std::int64_t{2});
  const auto in_groups = std::make_shared<Model>(
      "g", std::vector{layer("Conv2D", first), layer("Conv2D", grouped), layer("Flatten", {}), support::dense(2, "")});
  in_groups->build(factory);
  EXPECT_ERROR(::testing::HasSubstr("must stay: layer 'conv2d_1' (Conv2D) mixes them"),
               shrink(runtime, factory, *in_groups, {{"conv2d", 0.5}}));
  refused(in_groups, {{"conv2d_1", 0.5}}, "shrink: model 'g' has no Dense or Conv2D layer 'conv2d_1'");
  const auto reshaped = std::make_shared<Model>(
      "r", std::vector{support::dense(4, "", {4}), layer("Reshape", {{"target_shape", Shape{2, 2}}}),
                       support::dense(2, "")});
  reshaped->build(factory);
  refused(reshaped, {{"dense", 0.5}},
          "shrink: the units of layer 'dense' must stay: layer 'reshape' (Reshape) mixes them");
}

}  // namespace
}  // namespace gpubench
