// MultiHeadAttention and GroupQueryAttention: shapes, variables, masks, and what they refuse.
#include <gmock/gmock.h>

#include "core/ops/attention.h"
#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"

namespace gpubench::attention_layers_test {
namespace {

using support::f32;
using support::FakeVariables;
using support::infer;
using ::testing::ElementsAre;

ConfigEntries multi_head(ConfigEntries more = {}) {
  ConfigEntries options{{"num_heads", std::int64_t{2}}, {"key_dim", std::int64_t{4}}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// A layer that was built for some inputs, called on batches of 3.
struct CalledAttention {
  CalledAttention(std::string_view kind, const ConfigEntries& options, const std::vector<TensorType>& inputs)
      : layer(make_layer(kind, options)) {
    layer->build(variables, inputs);
    for (TensorType type : inputs) {
      type.shape.insert(type.shape.begin(), 3);
      values.push_back(graph.input(type, "x"));
    }
    step = graph.input({{}, Dtype::i64}, "step");
  }
  Value call(bool training = false) { return layer->call({graph, training, step}, values); }
  /// The options of each attention in the graph.
  std::vector<AttentionOptions> attentions() const {
    std::vector<AttentionOptions> found;
    for (const Node& node : graph.nodes())
      if (const auto* const op = op_as<Attention>(node)) found.push_back(op->options);
    return found;
  }
  std::vector<Shape> shapes() const {
    std::vector<Shape> found;
    for (const VariablePtr& variable : layer->variables()) found.push_back(variable->type.shape);
    return found;
  }

  FakeVariables variables;
  LayerPtr layer;
  Graph graph;
  std::vector<Value> values;
  Value step;
};

TEST(MultiHeadAttention, MakesTheVariablesOfKeras) {
  CalledAttention attention("MultiHeadAttention", multi_head({{"value_dim", std::int64_t{5}}}),
                            {f32({7, 6}), f32({9, 8}), f32({9, 3})});
  EXPECT_THAT(
      attention.variables.names,
      ElementsAre("multi_head_attention/query/kernel", "multi_head_attention/query/bias",
                  "multi_head_attention/key/kernel", "multi_head_attention/key/bias",
                  "multi_head_attention/value/kernel", "multi_head_attention/value/bias",
                  "multi_head_attention/attention_output/kernel", "multi_head_attention/attention_output/bias"));
  EXPECT_THAT(attention.shapes(), ElementsAre(Shape{6, 2, 4}, Shape{2, 4}, Shape{3, 2, 4}, Shape{2, 4}, Shape{8, 2, 5},
                                              Shape{2, 5}, Shape{2, 5, 6}, Shape{6}));
  EXPECT_EQ(attention.graph.type(attention.call()).shape, (Shape{3, 7, 6}));
}

TEST(MultiHeadAttention, AttendsToItselfAndHasOptions) {
  EXPECT_EQ(infer("MultiHeadAttention", multi_head(), {f32({7, 6})}), (Shape{7, 6}));
  EXPECT_EQ(infer("MultiHeadAttention", multi_head({{"output_shape", Shape{5}}}), {f32({7, 6})}), (Shape{7, 5}));
  EXPECT_EQ(infer("MultiHeadAttention", multi_head({{"output_shape", Shape{5, 2}}}), {f32({7, 6})}), (Shape{7, 5, 2}));
  CalledAttention bare("MultiHeadAttention", multi_head({{"use_bias", false}, {"use_causal_mask", true}}),
                       {f32({7, 6})});
  bare.call();
  EXPECT_EQ(bare.layer->variables().size(), 4U);
  ASSERT_EQ(bare.attentions().size(), 1U);
  EXPECT_EQ(bare.attentions()[0], (AttentionOptions{.scale = 0.5, .causal = true}));
}

TEST(MultiHeadAttention, TakesMasksOfKeysQueriesAndHeads) {
  for (const Shape& mask : {Shape{9}, Shape{7, 9}, Shape{1, 9}, Shape{2, 7, 9}, Shape{1, 7, 9}}) {
    CalledAttention attention("MultiHeadAttention", multi_head(), {f32({7, 6}), f32({9, 6}), {mask, Dtype::i32}});
    EXPECT_EQ(attention.graph.type(attention.call()).shape, (Shape{3, 7, 6})) << to_string(mask);
    EXPECT_TRUE(attention.attentions()[0].mask);
  }
}

TEST(MultiHeadAttention, DropsDifferentlyInEachCallOfTraining) {
  CalledAttention attention("MultiHeadAttention", multi_head({{"dropout", 0.25}, {"seed", std::int64_t{3}}}),
                            {f32({7, 6})});
  EXPECT_TRUE(attention.layer->draws());
  attention.call();
  attention.call(true);
  attention.call(true);
  const std::vector<AttentionOptions> found = attention.attentions();
  EXPECT_EQ(found[0].dropout, 0);
  EXPECT_EQ(found[1].dropout, 0.25);
  EXPECT_EQ(found[1].seed, 3U);
  EXPECT_NE(found[2].seed, 3U);
}

TEST(MultiHeadAttention, RefusesWhatDoesNotFit) {
  EXPECT_ERROR("MultiHeadAttention: num_heads must be at least 1, got 0",
               infer("MultiHeadAttention", {{"num_heads", std::int64_t{0}}, {"key_dim", std::int64_t{4}}}, {}));
  EXPECT_ERROR(
      "layer 'multi_head_attention' (MultiHeadAttention): expects floating-point [time, "
      "channels] per example, got float32[6]",
      infer("MultiHeadAttention", multi_head(), {f32({6})}));
  EXPECT_ERROR(
      "layer 'multi_head_attention' (MultiHeadAttention): needs as many keys as values, got "
      "float32[8, 6] and float32[9, 6]",
      infer("MultiHeadAttention", multi_head(), {f32({7, 6}), f32({9, 6}), f32({8, 6})}));
  EXPECT_ERROR(
      "layer 'multi_head_attention' (MultiHeadAttention): the mask must be [keys], "
      "[queries, keys] or [heads, queries, keys] per example with 2 heads, 7 queries and 7 "
      "keys, got bool[8]",
      infer("MultiHeadAttention", multi_head(), {f32({7, 6}), {{8}, Dtype::boolean}}));
  EXPECT_ERROR(
      "layer 'multi_head_attention' (MultiHeadAttention): takes a query, a value, a key and "
      "a mask of integers or bools, of which only the query is needed, got 4 inputs",
      infer("MultiHeadAttention", multi_head(), {f32({1, 6}), f32({1, 6}), f32({1, 6}), f32({1, 6})}));
  CalledAttention built("MultiHeadAttention", multi_head(), {f32({7, 6})});
  const std::vector<TensorType> wider{f32({7, 5})};
  EXPECT_ERROR(
      "layer 'multi_head_attention' (MultiHeadAttention): was built for a query of 6 "
      "channels, got float32[7, 5]",
      built.layer->infer(wider));
}

TEST(GroupQueryAttention, SharesKeysAmongHeads) {
  const ConfigEntries options{
      {"head_dim", std::int64_t{4}}, {"num_query_heads", std::int64_t{6}}, {"num_key_value_heads", std::int64_t{2}}};
  CalledAttention attention("GroupQueryAttention", options, {f32({7, 5}), f32({9, 3})});
  EXPECT_THAT(attention.shapes(), ElementsAre(Shape{5, 6, 4}, Shape{6, 4}, Shape{3, 2, 4}, Shape{2, 4}, Shape{3, 2, 4},
                                              Shape{2, 4}, Shape{6, 4, 5}, Shape{5}));
  EXPECT_EQ(attention.graph.type(attention.call()).shape, (Shape{3, 7, 5}));
  EXPECT_ERROR(
      "GroupQueryAttention: num_query_heads must be a multiple of num_key_value_heads, got "
      "6 and 4",
      infer("GroupQueryAttention",
            {{"head_dim", std::int64_t{4}},
             {"num_query_heads", std::int64_t{6}},
             {"num_key_value_heads", std::int64_t{4}}},
            {}));
}

}  // namespace
}  // namespace gpubench::attention_layers_test
