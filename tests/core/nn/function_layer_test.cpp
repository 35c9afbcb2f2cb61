// Layers made of functions, with functions in C++ in place of a script's.
#include <gmock/gmock.h>

#include "core/nn/architecture.h"
#include "core/nn/layer_kind.h"
#include "core/nn/model.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_variables.h"
#include "tests/support/formula_function.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

using support::formula_function;

LayerPtr lambda(support::Formula formula, bool weighted = false) {
  return make_layer("Lambda", {{"function", formula_function(std::move(formula), weighted)}});
}

const std::vector<TensorType> vector4{{{4}, Dtype::f32}};

TEST(FunctionLayer, KnowsItsTypeAndWhetherItKeepsChannels) {
  const LayerPtr relu = lambda([](Graph& graph, Value x, auto&) { return ops::relu(graph, x); });
  EXPECT_EQ(relu->infer(vector4), vector4[0]);
  EXPECT_EQ(relu->channels(), Channels::kept);
  const LayerPtr mean = lambda([](Graph& graph, Value x, auto&) { return ops::reduce_mean(graph, x, {1}); });
  EXPECT_EQ(mean->infer(vector4).shape, Shape{});
  EXPECT_EQ(mean->channels(), Channels::unknown);
}

TEST(FunctionLayer, WeightsAreItsOwnAndFitOneType) {
  const LayerPtr scaled = lambda(
      [](Graph& graph, Value x, const VariablePtr& weight) { return ops::mul(graph, x, graph.variable(weight)); },
      true);
  support::FakeVariables variables;
  scaled->build(variables, vector4);
  ASSERT_EQ(scaled->variables().size(), 1u);
  EXPECT_EQ(scaled->variables()[0]->name, "formula/scale");
  EXPECT_EQ(scaled->saved_name(0), "formula/scale");
  EXPECT_ERROR(HasSubstr("its weights were built for float32[4] per example, got float32[5]"),
               scaled->infer(std::vector<TensorType>{{{5}, Dtype::f32}}));
  scaled->set_trainable(false);
  EXPECT_TRUE(scaled->trainable_variables().empty());
}

TEST(FunctionLayer, RefusesResultsWithoutTheBatch) {
  const LayerPtr sum = lambda([](Graph& graph, Value x, auto&) { return ops::reduce_sum(graph, x); });
  EXPECT_ERROR(HasSubstr("its result must keep the batch as the first dimension"), sum->infer(vector4));
}

TEST(FunctionLayer, RefusesToCallItself) {
  LayerPtr own;
  own = lambda([&](Graph&, Value, auto&) -> Value {
    own->infer(vector4);
    return {};
  });
  EXPECT_ERROR(HasSubstr("its function calls the layer itself; a model has no cycles"), own->infer(vector4));
}

TEST(FunctionLayer, IsAnActivation) {
  const auto square = formula_function([](Graph& graph, Value x, auto&) { return ops::square(graph, x); });
  const LayerPtr dense = make_layer("Dense", {{"units", std::int64_t{3}}, {"activation", square}});
  support::FakeVariables variables;
  dense->build(variables, vector4);
  Graph graph;
  const Value y = dense->call({graph}, std::array{graph.input({{2, 4}, Dtype::f32}, "x")});
  EXPECT_EQ(graph.node(y).op->name(), "square");
  const auto sums = formula_function([](Graph& into, Value x, auto&) { return ops::reduce_sum(into, x, {1}); });
  const LayerPtr wrong = make_layer("Activation", {{"activation", sums}});
  EXPECT_ERROR(HasSubstr("its activation must keep the shape [2, 4], and returned float32[2]"),
               wrong->call({graph}, std::array{graph.inputs()[0]}));
}

TEST(FunctionLayer, IsStoredByNameAndFoundAgain) {
  const auto doubled = formula_function([](Graph& graph, Value x, auto&) { return ops::add(graph, x, x); });
  const LayerPtr layer = make_layer("Lambda", {{"function", doubled}, {"input_shape", Shape{4}}});
  const std::string json = architecture_to_json(Model("m", std::vector{layer}));
  EXPECT_THAT(json, HasSubstr(R"("function": "here")"));
  EXPECT_ERROR(HasSubstr("layer 'formula' needs a function of a script"), architecture_from_json(json, {}));
  const ModelPtr again = architecture_from_json(json, {}, [&](const std::string& name, const std::string& stored) {
    EXPECT_EQ(name + stored, R"(formula{"function":"here"})");
    return doubled;
  });
  EXPECT_EQ(again->layers()[1]->config().function("function"), doubled);
}

TEST(Model, RenamesLayersWhoseNameItChoseItself) {
  const auto input = [] { return apply_layer(make_layer("Input", {{"shape", Shape{4}}}), {}); };
  const auto dense = [] { return make_layer("Dense", {{"units", std::int64_t{4}}}); };
  const SymbolPtr a = input(), b = input();
  const Model first("first", {a}, {apply_layer(dense(), {a})}), second("second", {b}, {apply_layer(dense(), {b})});
  EXPECT_EQ(second.layers()[1]->name(), "dense");
  const SymbolPtr x = input();
  Model both("both", {x}, second.apply(first.apply({x})));
  support::FakeVariables variables;
  both.build(variables);
  EXPECT_EQ(second.layers()[1]->name(), "dense_1");
  EXPECT_THAT(both.saved_names(),
              ::testing::ElementsAre("dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"));
  EXPECT_EQ(both.layer_named("dense_1"), second.layers()[1]);
  EXPECT_ERROR(HasSubstr("model 'both': there is no layer 'dens'"), both.layer_named("dens"));
}

}  // namespace
}  // namespace gpubench
