// Shapes and refusals of the losses beside those of loss_test.cpp; their values are compared with Keras'
// (tests/peers/conformance/loss_kinds.py).
#include <gmock/gmock.h>

#include "core/graph/gradients.h"
#include "core/nn/loss.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "tests/core/nn/loss_pair.h"
#include "tests/support/expect_error.h"

namespace gpubench::loss_kinds_test {
namespace {

using ::testing::HasSubstr;
using Pair = LossPair;

const TensorType ten{{4, 10}, Dtype::f32}, images{{4, 6, 6, 3}, Dtype::f32};

TEST(LossKinds, GiveAValuePerElementOrPerExample) {
  for (const char* const name : {"binary_focal_crossentropy", "hinge", "squared_hinge", "log_cosh", "mape", "msle",
                                 "poisson", "MeanSquaredLogarithmicError"}) {
    EXPECT_EQ(Pair(ten, ten).loss(name), (Shape{4, 10})) << name;
    EXPECT_EQ(Pair(ten, ten).loss(name, {{"reduction", std::string("sum")}}), (Shape{4})) << name;
  }
  EXPECT_EQ(Pair(ten, ten).loss("categorical_focal_crossentropy", {{"from_logits", true}}), (Shape{4}));
  EXPECT_EQ(Pair(ten, ten).loss("categorical_hinge"), (Shape{4}));
  EXPECT_EQ(Pair(images, images).loss("cosine_similarity", {{"axis", std::int64_t{1}}}), (Shape{4, 6, 3}));
}

TEST(LossKinds, OfOverlapsAreANumberForWhatTheirAxesLeave) {
  for (const char* const name : {"dice", "tversky"}) {
    EXPECT_EQ(Pair(images, images).loss(name), (Shape{})) << name;
    EXPECT_EQ(Pair(images, images).loss(name, {{"axis", Shape{1, 2, -1}}}), (Shape{4})) << name;
    EXPECT_EQ(Pair(images, images).loss(name, {{"axis", Shape{1, 2}}}), (Shape{4, 3})) << name;
    const ConfigEntries over_batch{{"axis", Shape{0, 1, 2}}};
    EXPECT_EQ(Pair(images, images).loss(name, over_batch), (Shape{})) << name;
    EXPECT_EQ(Pair(images, images).loss(name, {{"axis", Shape{0}}, {"reduction", std::string("none")}}),
              (Shape{6, 6, 3}));
  }
}

TEST(LossKinds, HaveGradientsOfSecondOrder) {
  for (const LossKind& kind : loss_kinds()) {
    const bool one_op = kind.name.ends_with("_crossentropy") && !kind.name.ends_with("_focal_crossentropy");
    if (one_op) continue;
    Pair pair(ten, ten);
    const Value values = make_loss(kind.name)->call(pair.graph, pair.labels, pair.predictions);
    const auto gradient = [&](Value of) {
      return gradients(pair.graph, ops::reduce_sum(pair.graph, of), {{pair.predictions}})[0];
    };
    const Value first = gradient(values);
    EXPECT_TRUE(first) << kind.name;
    EXPECT_NO_THROW(gradient(ops::square(pair.graph, first))) << kind.name;
  }
}

TEST(LossKinds, NameAClassThatIsIgnored) {
  const auto ignored = [](const ConfigEntries& options) {
    return make_loss("sparse_categorical_crossentropy", options)->ignored_class();
  };
  EXPECT_EQ(ignored({}), std::nullopt);
  EXPECT_EQ(ignored({{"ignore_class", std::int64_t{-1}}}), -1);
  EXPECT_EQ(make_loss("mse")->ignored_class(), std::nullopt);
  EXPECT_EQ(Pair({{4, 6, 6}, Dtype::u8}, images)
                .loss("sparse_categorical_crossentropy", {{"ignore_class", std::int64_t{255}}}),
            (Shape{4, 6, 6}));
}

TEST(LossKinds, HaveTheNamesOfTheirClassesToo) {
  EXPECT_EQ(name_of_class("KLDivergence"), "kl_divergence");
  EXPECT_EQ(name_of_class("MeanIoU"), "mean_io_u");
  EXPECT_EQ(name_of_class("SparseTopKCategoricalAccuracy"), "sparse_top_k_categorical_accuracy");
  EXPECT_EQ(name_of_class("AUC"), "auc");
  EXPECT_EQ(make_loss("MSLE")->name(), "mean_squared_logarithmic_error");
  EXPECT_EQ(make_loss("BinaryFocalCrossentropy")->name(), "binary_focal_crossentropy");
}

TEST(LossKinds, Refuse) {
  EXPECT_ERROR("binary_focal_crossentropy: gamma must be at least 0, got -1",
               make_loss("binary_focal_crossentropy", {{"gamma", -1.0}}));
  EXPECT_ERROR("categorical_focal_crossentropy: alpha must be at least 0, got [0.5, -1]",
               make_loss("categorical_focal_crossentropy", {{"alpha", Numbers{0.5, -1}}}));
  EXPECT_ERROR("categorical_focal_crossentropy: alpha must be one number or one for each of 10 classes, got 2",
               Pair(ten, ten).loss("categorical_focal_crossentropy", {{"alpha", Numbers{0.5, 1}}}));
  EXPECT_ERROR("tversky: beta must be at least 0, got -0.5", make_loss("tversky", {{"beta", -0.5}}));
  EXPECT_ERROR("dice: the predictions float32[4, 10] have no axis 2",
               Pair(ten, ten).loss("dice", {{"axis", Shape{1, 2}}}));
  EXPECT_ERROR(HasSubstr("axis 1 is given twice"), Pair(ten, ten).loss("dice", {{"axis", Shape{1, -1}}}));
  EXPECT_ERROR("cosine_similarity: axis must be one of the predictions float32[4, 10] but the first, got 0",
               Pair(ten, ten).loss("cosine_similarity", {{"axis", std::int64_t{0}}}));
  EXPECT_ERROR(HasSubstr("labels must have the shape of the predictions [4, 10], got float32[4, 6, 6, 3]"),
               Pair(images, ten).loss("hinge"));
}

}  // namespace
}  // namespace gpubench::loss_kinds_test
