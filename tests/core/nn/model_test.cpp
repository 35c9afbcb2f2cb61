#include "core/nn/model.h"

#include <gmock/gmock.h>

#include "core/nn/architecture.h"
#include "core/nn/layer_kind.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_variables.h"

namespace gpubench {
namespace {

using support::FakeVariables;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LayerPtr dense(std::int64_t units, ConfigEntries more = {}) {
  more.emplace_back("units", units);
  return make_layer("Dense", more);
}

ModelPtr digits() {
  return std::make_shared<Model>(
      "sequential", std::vector{dense(128, {{"input_shape", Shape{784}}, {"activation", std::string("relu")}}),
                                dense(10, {{"activation", std::string("softmax")}})});
}

/// input -> dense -> add(dense, input) -> two heads
ModelPtr residual() {
  const SymbolPtr input = apply_layer(make_layer("Input", {{"shape", Shape{4}}}), {});
  const SymbolPtr hidden = apply_layer(dense(4), {input});
  const SymbolPtr sum = apply_layer(make_layer("Add"), {hidden, input});
  return std::make_shared<Model>("residual", std::vector{input},
                                 std::vector{apply_layer(dense(2), {sum}), apply_layer(dense(3), {sum})});
}

/// input -> add(short(input), long(dense(input)))
ModelPtr two_ways(bool in_order_of_calls = false) {
  const SymbolPtr input = apply_layer(make_layer("Input", {{"shape", Shape{4}}}), {});
  const SymbolPtr brief = apply_layer(dense(4), {input});
  const SymbolPtr deep = apply_layer(dense(4), {apply_layer(dense(4), {input})});
  const std::vector<SymbolPtr> inputs{input}, outputs{apply_layer(make_layer("Add"), {brief, deep})};
  const auto model = std::make_shared<Model>("two_ways", inputs, outputs);
  if (!in_order_of_calls) return model;
  return std::make_shared<Model>("two_ways", inputs, outputs, model->called_layers());
}

std::vector<std::string> names_of(const std::vector<LayerPtr>& layers) {
  std::vector<std::string> names;
  for (const LayerPtr& layer : layers) names.push_back(layer->name());
  return names;
}

TEST(Model, SequentialKnowsItsTypesFromInputShape) {
  const ModelPtr model = digits();
  ASSERT_TRUE(model->defined());
  EXPECT_EQ(model->input_types()[0].shape, (Shape{784}));
  EXPECT_EQ(model->output_types()[0].shape, (Shape{10}));
}

TEST(Model, NamesLayersAsKerasDoes) {
  FakeVariables variables;
  digits()->build(variables);
  EXPECT_THAT(variables.names, ElementsAre("dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"));
}

TEST(Model, SequentialWaitsForItsInputShape) {
  Model model("late", {dense(3)});
  FakeVariables variables;
  EXPECT_FALSE(model.defined());
  EXPECT_ERROR(HasSubstr("the input's shape is not known yet"), model.build(variables));
  const TensorType bytes{{5}, Dtype::u8};
  model.define(std::span(&bytes, 1));
  model.build(variables);
  EXPECT_EQ(model.variables()[0]->type.shape, (Shape{5, 3}));
}

TEST(Model, CastsItsInputToTheDeclaredType) {
  const ModelPtr model = digits();
  FakeVariables variables;
  model->build(variables);
  Graph graph;
  const Value x = graph.input({{32, 784}, Dtype::u8}, "x");
  const std::vector<Value> outputs = model->call({graph}, std::span(&x, 1)).values;
  EXPECT_EQ(graph.type(outputs[0]), (TensorType{{32, 10}, Dtype::f32}));
  EXPECT_EQ(graph.nodes()[1].op->name(), "cast");
}

TEST(Model, RefusesOtherShapes) {
  const ModelPtr model = digits();
  FakeVariables variables;
  model->build(variables);
  Graph graph;
  const Value x = graph.input({{32, 28, 28}, Dtype::f32}, "x");
  EXPECT_ERROR("model 'sequential': expects 1 input of shape [784] per example, got 1 of shape [28, 28]",
               model->call({graph}, std::span(&x, 1)));
}

TEST(Model, JoinsBranches) {
  const ModelPtr model = residual();
  FakeVariables variables;
  model->build(variables);
  Graph graph;
  const Value x = graph.input({{2, 4}, Dtype::f32}, "x");
  const std::vector<Value> outputs = model->call({graph}, std::span(&x, 1)).values;
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(graph.type(outputs[0]).shape, (Shape{2, 2}));
  EXPECT_EQ(graph.type(outputs[1]).shape, (Shape{2, 3}));
  EXPECT_EQ(model->trainable_variables().size(), 6U);
}

TEST(Model, RunsADeepChainWithoutRecursion) {
  SymbolPtr value = apply_layer(make_layer("Input", {{"shape", Shape{2}}}), {});
  const SymbolPtr input = value;
  for (int i = 0; i < 2000; ++i) value = apply_layer(make_layer("Flatten"), {value});
  EXPECT_EQ(Model("deep", {input}, {value}).calls().size(), 2001U);
}

TEST(Model, SharesALayerAppliedTwice) {
  const SymbolPtr a = apply_layer(make_layer("Input", {{"shape", Shape{3}}}), {});
  const SymbolPtr b = apply_layer(make_layer("Input", {{"shape", Shape{3}}}), {});
  const LayerPtr shared = dense(2);
  Model model("twins", {a, b}, {apply_layer(make_layer("Add"), {apply_layer(shared, {a}), apply_layer(shared, {b})})});
  FakeVariables variables;
  model.build(variables);
  EXPECT_THAT(variables.names, ElementsAre("dense/kernel", "dense/bias"));
}

TEST(Model, IsALayerOfOtherModels) {
  const ModelPtr inner = digits();
  const SymbolPtr input = apply_layer(make_layer("Input", {{"shape", Shape{784}}}), {});
  Model outer("outer", {input}, inner->apply({input}));
  FakeVariables variables;
  outer.build(variables);
  inner->build(variables);
  EXPECT_EQ(outer.variables(), inner->variables());
}

TEST(Model, OrdersLayersByDepthAndNamesThemByCalls) {
  const ModelPtr model = two_ways();
  EXPECT_THAT(names_of(model->called_layers()), ElementsAre("input", "dense", "dense_1", "dense_2", "add"));
  EXPECT_THAT(names_of(model->layers()), ElementsAre("input", "dense_1", "dense", "dense_2", "add"));
  FakeVariables variables;
  model->build(variables);
  EXPECT_THAT(model->saved_names(), ElementsAre("dense_1/kernel", "dense_1/bias", "dense/kernel", "dense/bias",
                                                "dense_2/kernel", "dense_2/bias"));
}

TEST(Model, OrdersAModelInsideAsOneLayer) {
  const ModelPtr inner = two_ways();
  const SymbolPtr input = apply_layer(make_layer("Input", {{"shape", Shape{4}}}), {});
  const SymbolPtr beside = apply_layer(dense(4, {{"name", std::string("beside")}}), {input});
  const SymbolPtr again = inner->apply(inner->apply({input})).front();
  const Model outer("outer", {input}, {apply_layer(make_layer("Multiply"), {beside, again})});
  EXPECT_THAT(names_of(outer.layers()),
              ElementsAre("input", "dense_1", "dense", "dense_2", "add", "beside", "multiply"));
}

TEST(Model, RefusesWhatHangsTogetherBadly) {
  const SymbolPtr a = apply_layer(make_layer("Input", {{"shape", Shape{3}}}), {});
  const SymbolPtr b = apply_layer(make_layer("Input", {{"shape", Shape{3}}}), {});
  const SymbolPtr out = apply_layer(make_layer("Add"), {a, b});
  EXPECT_ERROR("model 'm': an output depends on an Input float32[3] that is not among the model's inputs",
               Model("m", {a}, {out}));
  EXPECT_ERROR("model 'm': its inputs must be Input layers, got the output of layer Add", Model("m", {out}, {out}));
  EXPECT_ERROR("model 'm': needs at least one input and one output, got 0 and 1", Model("m", {}, {out}));
  FakeVariables variables;
  EXPECT_ERROR("model 'm': it has no layers yet; add some by model:add(layer)",
               Model("m", std::vector<LayerPtr>{}).build(variables));
  EXPECT_ERROR("model 'm': it has no layers yet; add some by model:add(layer)",
               Model("m", {make_layer("Input", {{"shape", Shape{3}}})}).build(variables));
  EXPECT_ERROR("model 'm': two layers are named 'x'",
               Model("m", {dense(1, {{"name", std::string("x")}}), dense(1, {{"name", std::string("x")}})}));
  EXPECT_ERROR("model 'm': layer 2 (Dense) has the input_shape [5], but is given [3]",
               Model("m", {dense(3, {{"input_shape", Shape{2}}}), dense(1, {{"input_shape", Shape{5}}})}));
}

TEST(Summary, ListsShapesAndParameters) {
  const ModelPtr model = digits();
  FakeVariables variables;
  EXPECT_ERROR(HasSubstr("summary needs a built model"), summary(*model));
  model->build(variables);
  EXPECT_EQ(summary(*model),
            "Model: sequential\n"
            "Layer (type)     Output shape  Parameters\n"
            "-----------------------------------------\n"
            "dense (Dense)    [batch, 128]     100 480\n"
            "dense_1 (Dense)  [batch, 10]        1 290\n"
            "Total parameters: 101 770 (398 KiB)\n"
            "Trainable: 101 770, not trainable: 0\n");
}

TEST(Summary, ShowsConnectionsOfAFunctionalModel) {
  const ModelPtr model = residual();
  FakeVariables variables;
  model->build(variables);
  EXPECT_THAT(summary(*model), HasSubstr("dense, input"));

  const ModelPtr other = two_ways();
  other->build(variables);
  const std::string lines = summary(*other);
  EXPECT_LT(lines.find("\ndense_1 "), lines.find("\ndense "));
}

TEST(Architecture, RoundTripsAsJson) {
  for (const ModelPtr& model : {digits(), residual(), two_ways()}) {
    const std::string json = architecture_to_json(*model);
    const ModelPtr again = architecture_from_json(json, {});
    EXPECT_EQ(architecture_to_json(*again), json);
    FakeVariables first, second;
    model->build(first);
    again->build(second);
    EXPECT_EQ(first.names, second.names);
  }
}

TEST(Architecture, KeepsTheOrderOfLayersOfEarlierFiles) {
  for (const bool earlier : {true, false}) {
    const ModelPtr model = two_ways(earlier);
    EXPECT_EQ(model->layers() == model->called_layers(), earlier);
    const ModelPtr again = architecture_from_json(architecture_to_json(*model), {});
    EXPECT_EQ(names_of(again->layers()), names_of(model->layers()));
    EXPECT_EQ(names_of(again->called_layers()), names_of(model->called_layers()));
  }
}

TEST(Architecture, KeepsHowBatchesAreNormalized) {
  for (const bool synchronized : {true, false}) {
    const Model model("m", std::vector{make_layer("BatchNormalization",
                                                  {{"synchronized", synchronized}, {"input_shape", Shape{3}}})});
    const ModelPtr again = architecture_from_json(architecture_to_json(model), {});
    EXPECT_EQ(again->layers().back()->config().flag("synchronized"), synchronized);
  }
}

TEST(Model, HasTheNamesThatItIsGiven) {
  const SymbolPtr x = apply_layer(make_layer("Input", {{"shape", Shape{2}}, {"name", std::string("x")}}), {});
  const std::vector<SymbolPtr> outputs{apply_layer(dense(3), {x}), apply_layer(dense(1), {x})};
  const Model listed("m", {x}, outputs);
  EXPECT_EQ(listed.input_names(), std::vector<std::string>{"x"});
  EXPECT_EQ(listed.output_names(), (std::vector<std::string>{"dense", "dense_1"}));
  const Model named("m", {x}, outputs, {}, {{"image"}, {"kind", "size"}});
  EXPECT_EQ(named.input_names(), std::vector<std::string>{"image"});
  EXPECT_EQ(named.output_names(), (std::vector<std::string>{"kind", "size"}));
  const ModelPtr again = architecture_from_json(architecture_to_json(named), {});
  EXPECT_EQ(again->given_names().inputs, named.given_names().inputs);
  EXPECT_EQ(again->given_names().outputs, named.given_names().outputs);
  EXPECT_TRUE(architecture_from_json(architecture_to_json(listed), {})->given_names().outputs.empty());
  EXPECT_ERROR("model 'm': has 2 outputs, and so as many names that differ; got kind",
               Model("m", {x}, outputs, {}, {{}, {"kind"}}));
  EXPECT_ERROR("model 'm': has 2 outputs, and so as many names that differ; got kind, kind",
               Model("m", {x}, outputs, {}, {{}, {"kind", "kind"}}));
  std::string json = architecture_to_json(named);
  json.replace(json.find("\"size\""), 6, "7");
  EXPECT_ERROR("model architecture: 'output_names' is a list of texts, got 7 in it", architecture_from_json(json, {}));
}

TEST(Architecture, RefusesWhatItCannotRead) {
  EXPECT_ERROR(HasSubstr("model architecture: no JSON: it breaks off or is damaged at byte 2"),
               architecture_from_json("{", {}));
  EXPECT_ERROR("model architecture: format version 9 is not known; this program reads version 1",
               architecture_from_json(R"({"gpubench_model": 9})", {}));
  EXPECT_ERROR(HasSubstr("format version 1e+151 is not known"),
               architecture_from_json(R"({"gpubench_model": 1e151})", {}));
  EXPECT_ERROR("model architecture: an index is expected, got 1e+151",
               architecture_from_json(R"({"gpubench_model": 1, "name": "m", "sequential": false, "layers": [], )"
                                      R"("calls": [{"layer": 1e151, "inputs": []}], "inputs": [], "outputs": []})",
                                      {}));
  EXPECT_ERROR("model architecture: 'inputs' must be a list, got 3",
               architecture_from_json(R"({"gpubench_model": 1, "name": "m", "sequential": false, "layers": [], )"
                                      R"("calls": [], "inputs": 3, "outputs": []})",
                                      {}));
  EXPECT_ERROR(HasSubstr("option 'shape' must be a list of integers, got a list of numbers ([1e+151])"),
               architecture_from_json(R"({"gpubench_model": 1, "name": "m", "sequential": true, "layers": [)"
                                      R"({"kind": "Input", "name": "i", "options": {"shape": [1e151]}}]})",
                                      {}));
  const auto refusal = [](const std::string& text) {
    return support::error_of([&] { architecture_from_json(text, {}); });
  };
  EXPECT_EQ(refusal("7"), "model architecture: an object with 'gpubench_model' is expected, got 7");
  EXPECT_EQ(refusal(R"({"gpubench_model": 1})"), R"(model architecture: 'layers' is missing in {"gpubench_model":1})");
  EXPECT_EQ(refusal(R"({"gpubench_model": 1, "layers": [7]})"),
            "model architecture: an object with 'name' is expected, got 7");
  EXPECT_EQ(refusal(R"({"gpubench_model": 1, "layers": [{"name": ["\u001b"]}]})"),
            R"(model architecture: 'name' must be a text, got ["\u001b"])");
  EXPECT_EQ(refusal(R"({"gpubench_model": 1, "layers": [{"name": "a", "options": []}]})"),
            "model architecture: 'options' must be an object, got []");
  EXPECT_EQ(refusal(R"({"gpubench_model": 1, "layers": [], "sequential": 1e999})"),
            "model architecture: it has a number that is out of range");
  std::string json = architecture_to_json(*digits());
  json.replace(json.find("\"Dense\""), 7, "\"Danse\"");
  EXPECT_ERROR(HasSubstr("unknown layer 'Danse'"), architecture_from_json(json, {}));
  for (const char* numbers : {R"("calls": [{"layer": 7, "inputs": []}], "inputs": [], "outputs": [])",
                              R"("calls": [], "inputs": [3], "outputs": [])"}) {
    const std::string text =
        R"({"gpubench_model": 1, "name": "m", "sequential": false, "layers": [], )" + std::string(numbers) + "}";
    EXPECT_ERROR(HasSubstr("that is not there"), architecture_from_json(text, {}));
  }
}

TEST(SymbolTest, DeepChainsEnd) {
  const LayerPtr relu = make_layer("Activation", {{"activation", std::string("relu")}});
  SymbolPtr symbol = apply_layer(make_layer("Input", {{"shape", Shape{2}}}), {});
  const SymbolPtr first = symbol;
  for (int i = 0; i < 200'000; ++i) symbol = apply_layer(relu, {symbol});
  EXPECT_GT(first.use_count(), 1);
  symbol.reset();
  EXPECT_EQ(first.use_count(), 1);
}

}  // namespace
}  // namespace gpubench
