// The nodes and types of losses and metrics; their values are tested where there is an executor, in core/train.
#include "core/nn/loss.h"

#include <gmock/gmock.h>

#include "core/nn/metric.h"
#include "tests/core/nn/loss_pair.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Pair = LossPair;

const TensorType ten{{4, 10}, Dtype::f32};

TEST(Loss, GivesAValuePerExample) {
  EXPECT_EQ(Pair(ten, ten).loss("categorical_crossentropy"), (Shape{4}));
  EXPECT_EQ(Pair(ten, ten).loss("categorical_crossentropy", {{"from_logits", true}}), (Shape{4}));
  EXPECT_EQ(Pair({{4}, Dtype::i64}, ten).loss("sparse_categorical_crossentropy"), (Shape{4}));
  EXPECT_EQ(Pair({{4, 1}, Dtype::u8}, ten).loss("sparse_categorical_crossentropy", {{"from_logits", true}}),
            (Shape{4}));
  EXPECT_EQ(Pair(ten, ten).loss("mean_squared_error"), (Shape{4, 10}));
  EXPECT_EQ(Pair({{4}, Dtype::f32}, {{4, 1}, Dtype::f32}).loss("binary_crossentropy"), (Shape{4, 1}));
}

TEST(Loss, GivesAValuePerExampleOfOtherKinds) {
  EXPECT_EQ(Pair(ten, ten).loss("mae"), (Shape{4, 10}));
  EXPECT_EQ(Pair(ten, ten).loss("huber", {{"delta", 0.5}}), (Shape{4, 10}));
  EXPECT_EQ(Pair(ten, ten).loss("kld"), (Shape{4}));
  EXPECT_EQ(Pair(ten, ten).loss("cosine_similarity"), (Shape{4}));
  EXPECT_EQ(Pair(ten, ten).loss("mse", {{"reduction", std::string("none")}}), (Shape{4}));
}

TEST(Loss, TakesSequencesOfClasses) {
  const TensorType sequences{{4, 7, 10}, Dtype::f32};
  EXPECT_EQ(Pair({{4, 7}, Dtype::i64}, sequences).loss("sparse_categorical_crossentropy"), (Shape{4, 7}));
  EXPECT_EQ(Pair({{4, 7, 1}, Dtype::i64}, sequences).loss("sparse_categorical_crossentropy"), (Shape{4, 7}));
  EXPECT_EQ(Pair(sequences, sequences).loss("categorical_crossentropy"), (Shape{4, 7}));
  EXPECT_EQ(Pair({{4, 7}, Dtype::i64}, sequences).metric("accuracy"), (Shape{4, 7}));
}

TEST(Loss, TakesOneHotLabelsOfOtherTypes) {
  EXPECT_EQ(Pair({{4, 10}, Dtype::u8}, ten).loss("categorical_crossentropy"), (Shape{4}));
}

TEST(Loss, Refuses) {
  EXPECT_ERROR(
      "categorical_crossentropy: labels must have the shape of the predictions [4, 10], got "
      "int64[4]; class indices go with sparse_categorical_crossentropy",
      Pair({{4}, Dtype::i64}, ten).loss("categorical_crossentropy"));
  EXPECT_ERROR(HasSubstr("labels must be one class index per example, [4], got float32[4, 10]"),
               Pair(ten, ten).loss("sparse_categorical_crossentropy"));
  EXPECT_ERROR(HasSubstr("one-hot labels go with categorical_crossentropy"),
               Pair({{4}, Dtype::f32}, ten).loss("sparse_categorical_crossentropy"));
  EXPECT_ERROR("mean_squared_error: labels must have the shape of the predictions [4, 10], got float32[3, 10]",
               Pair({{3, 10}, Dtype::f32}, ten).loss("mse"));
  EXPECT_ERROR(AllOf(HasSubstr("unknown loss 'entropy' (known: binary_crossentropy, binary_focal_crossentropy, "),
                     HasSubstr(", squared_hinge, tversky; or a function of labels and predictions)")),
               make_loss("entropy"));
  EXPECT_ERROR(HasSubstr("mean_squared_error: unknown option 'from_logits'"),
               make_loss("mse", {{"from_logits", true}}));
}

TEST(Metric, AccuracyChoosesByTheLabels) {
  Pair one_hot(ten, ten), indices({{4}, Dtype::i64}, ten), binary({{4, 1}, Dtype::f32}, {{4, 1}, Dtype::f32});
  EXPECT_EQ(one_hot.metric("accuracy"), (Shape{4}));
  EXPECT_EQ(one_hot.last_op(), "top_k_matches");
  EXPECT_EQ(indices.metric("accuracy"), (Shape{4}));
  EXPECT_EQ(binary.metric("accuracy"), (Shape{4, 1}));
  EXPECT_EQ(binary.last_op(), "binary_matches");
}

TEST(Metric, TopKHasItsK) {
  Pair pair({{4}, Dtype::i64}, ten);
  pair.metric("top_k_categorical_accuracy", {{"k", std::int64_t{3}}});
  EXPECT_THAT(pair.graph.nodes().back().op->attributes(), HasSubstr("3"));
}

TEST(Metric, Refuses) {
  EXPECT_ERROR(HasSubstr("unknown metric 'accurate' (did you mean 'accuracy'?) (known: accuracy, auc"),
               make_metric("accurate"));
  EXPECT_ERROR("top_k_categorical_accuracy: k must be at least 1, got 0",
               make_metric("top_k_categorical_accuracy", {{"k", std::int64_t{0}}}));
}

TEST(CustomLoss, MustReturnATensor) {
  const LossPtr loss = make_custom_loss("mine", [](Graph&, Value, Value) { return Value{}; });
  Pair pair(ten, ten);
  EXPECT_ERROR("loss 'mine': must return a floating-point tensor",
               loss->call(pair.graph, pair.labels, pair.predictions));
}

}  // namespace
}  // namespace gpubench
