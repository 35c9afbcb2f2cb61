// Embedding, LayerNormalization and RMSNormalization: shapes, variables, and what they refuse.
#include <gmock/gmock.h>

#include "tests/core/nn/called.h"
#include "tests/support/expect_error.h"

namespace gpubench::sequence_layers_test {
namespace {

using support::f32;
using support::FakeVariables;
using support::infer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> variables_of(std::string_view kind, const ConfigEntries& options, const TensorType& input) {
  FakeVariables variables;
  const LayerPtr layer = make_layer(kind, options);
  layer->build(variables, std::span(&input, 1));
  Graph graph;
  Shape batch = input.shape;
  batch.insert(batch.begin(), 3);
  const Value x = graph.input({batch, input.dtype}, "x");
  const Value y = layer->call({graph}, std::span(&x, 1));
  EXPECT_EQ(graph.type(y).shape.size(), batch.size() + (is_floating(input.dtype) ? 0 : 1));
  return variables.names;
}

TEST(LayerNormalization, HasScaleAndCenterUnlessTheyAreSwitchedOff) {
  EXPECT_THAT(variables_of("LayerNormalization", {}, f32({7, 6})),
              ElementsAre("layer_normalization/gamma", "layer_normalization/beta"));
  EXPECT_THAT(variables_of("LayerNormalization", {{"scale", false}}, f32({6})),
              ElementsAre("layer_normalization/beta"));
  EXPECT_THAT(variables_of("LayerNormalization", {{"center", false}}, f32({7, 6})),
              ElementsAre("layer_normalization/gamma"));
  EXPECT_THAT(
      variables_of("LayerNormalization", {{"scale", false}, {"center", false}, {"axis", std::int64_t{2}}}, f32({7, 6})),
      IsEmpty());
}

TEST(LayerNormalization, RefusesOtherAxes) {
  EXPECT_ERROR(
      "layer 'layer_normalization' (LayerNormalization): normalizes over the last axis "
      "only, 2 (or -1) for float32[7, 6] per example, got axis 1",
      infer("LayerNormalization", {{"axis", std::int64_t{1}}}, {f32({7, 6})}));
  EXPECT_ERROR(
      "layer 'layer_normalization' (LayerNormalization): expects [..., channels] per "
      "example, got float32[]",
      infer("LayerNormalization", {}, {f32({})}));
}

TEST(RmsNormalization, HasAScale) {
  EXPECT_THAT(variables_of("RMSNormalization", {}, f32({7, 6})), ElementsAre("rms_normalization/scale"));
}

TEST(Embedding, GivesARowForEachToken) {
  const ConfigEntries options{{"input_dim", std::int64_t{10}}, {"output_dim", std::int64_t{4}}};
  EXPECT_THAT(variables_of("Embedding", options, {{7}, Dtype::i32}), ElementsAre("embedding/embeddings"));
  const std::vector<TensorType> tokens{{{7}, Dtype::i64}};
  EXPECT_EQ(make_layer("Embedding", options)->infer(tokens), f32({7, 4}));
  EXPECT_EQ(infer("Embedding", options, {f32({7})}), (Shape{7, 4}));
  EXPECT_ERROR("layer 'embedding' (Embedding): expects numbers, tokens from 0 to 9, got bytes[7]",
               infer("Embedding", options, {{{7}, Dtype::bytes}}));
  EXPECT_ERROR("Embedding: input_dim must be at least 1, got 0",
               infer("Embedding", {{"input_dim", std::int64_t{0}}, {"output_dim", std::int64_t{4}}}, {}));
}

TEST(ReversibleEmbedding, GoesBackByItsTable) {
  ConfigEntries options{{"input_dim", std::int64_t{10}}, {"output_dim", std::int64_t{4}}};
  const std::vector<TensorType> tokens{{{7}, Dtype::i64}}, vectors{f32({7, 4})};
  const CallForm reverse{.reverse = true};
  const LayerPtr tied = make_layer("ReversibleEmbedding", options);
  EXPECT_EQ(tied->infer(tokens), f32({7, 4}));
  EXPECT_EQ(tied->infer(vectors, reverse).front(), f32({7, 10}));
  EXPECT_THAT(variables_of("ReversibleEmbedding", options, tokens[0]), ElementsAre("reversible_embedding/embeddings"));
  options.emplace_back("tie_weights", false);
  EXPECT_THAT(variables_of("ReversibleEmbedding", options, tokens[0]),
              ElementsAre("reversible_embedding/embeddings", "reversible_embedding/reverse_embeddings"));
  options.emplace_back("reverse_dtype", std::string("float16"));
  EXPECT_EQ(make_layer("ReversibleEmbedding", options)->infer(vectors, reverse).front().dtype, Dtype::f16);
  const std::vector<TensorType> wide{f32({7, 5})};
  EXPECT_ERROR(
      "layer 'reversible_embedding' (ReversibleEmbedding): in reverse expects [..., 4] per example, got float32[7, 5]",
      tied->infer(wide, reverse));
  EXPECT_ERROR("layer 'reversible_embedding' (ReversibleEmbedding): expects floating-point input, got int64[7]",
               tied->infer(tokens, reverse));
  EXPECT_ERROR("layer 'embedding' (Embedding): takes no option 'reverse'; ReversibleEmbedding does",
               make_layer("Embedding", ConfigEntries(options.begin(), options.begin() + 2))->infer(vectors, reverse));
  options.back() = {"reverse_dtype", std::string("int32")};
  EXPECT_ERROR(HasSubstr("reverse_dtype is a floating-point type, got 'int32'"),
               make_layer("ReversibleEmbedding", options));
  options.back() = {"logit_soft_cap", -1.0};
  EXPECT_ERROR(HasSubstr("logit_soft_cap is a number above 0, or 0 for none, got -1"),
               make_layer("ReversibleEmbedding", options));
}

}  // namespace
}  // namespace gpubench::sequence_layers_test
