// Sizes and refusals of metrics that count; their values are compared with Keras'
// (tests/peers/conformance/counting_metrics.py).
#include <array>
#include <gmock/gmock.h>

#include "core/nn/metric.h"
#include "tests/support/expect_error.h"

namespace gpubench::counting_metrics_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorType row{{10}, Dtype::f32};  // of one example

struct Pair {
  explicit Pair(TensorType label_type = {{4, 10}, Dtype::f32}, TensorType prediction_type = {{4, 10}, Dtype::f32})
      : labels(graph.input(std::move(label_type), "y")), predictions(graph.input(std::move(prediction_type), "p")) {}
  Graph graph;
  Value labels, predictions;

  Shape added(const char* name, const ConfigEntries& options = {}) {
    return graph.type(make_metric(name, options)->call(graph, labels, predictions)).shape;
  }
  Shape weighted(const char* name, TensorType weights, const ConfigEntries& options = {}) {
    const Value given = graph.input(std::move(weights), "w");
    return graph.type(make_metric(name, options)->weighted(graph, labels, predictions, given)).shape;
  }
};

ConfigEntries of_classes(std::int64_t classes, ConfigEntries more = {}) {
  more.emplace_back("num_classes", classes);
  return more;
}

TEST(CountingMetrics, AddAsManyNumbersAsTheirStateHas) {
  const ConfigEntries three{{"thresholds", Numbers{0.2, 0.5, 1}}};
  const ConfigEntries by_label{{"multi_label", true}, {"num_thresholds", std::int64_t{5}}};
  const ConfigEntries one_class{{"target_class_ids", Shape{1}}};
  struct Case {
    const char* name;
    ConfigEntries options;
    std::int64_t size;
  };
  const std::vector<Case> cases{{"precision", {}, 4},
                                {"recall", three, 8},
                                {"recall", {{"top_k", std::int64_t{2}}, {"class_id", std::int64_t{1}}}, 4},
                                {"true_negatives", three, 8},
                                {"auc", {{"num_thresholds", std::int64_t{5}}}, 10},
                                {"auc", three, 10},
                                {"auc", by_label, 100},
                                {"one_hot_io_u", of_classes(10, one_class), 30},
                                {"f1_score", {}, 30},
                                {"r2_score", {}, 41}};
  for (const auto& [name, options, size] : cases) {
    EXPECT_EQ(make_metric(name, options)->state_size(row), size) << name;
    EXPECT_EQ(Pair().added(name, options), Shape{size}) << name;
    EXPECT_EQ(Pair().weighted(name, {{4}, Dtype::f32}, options), Shape{size}) << name;
  }
}

TEST(CountingMetrics, OfPlacesTakeClassIndices) {
  const TensorType labels{{4, 6, 6}, Dtype::u8}, scores{{4, 6, 6, 3}, Dtype::f32};
  const ConfigEntries by_class = of_classes(3, {{"sparse_y_pred", false}, {"ignore_class", std::int64_t{255}}});
  EXPECT_EQ(Pair(labels, scores).added("mean_io_u", by_class), Shape{9});
  EXPECT_EQ(Pair({{4, 6, 6, 1}, Dtype::i64}, scores).added("mean_io_u", by_class), Shape{9});
  EXPECT_EQ(Pair(labels, labels).added("mean_io_u", of_classes(3)), Shape{9});
  EXPECT_EQ(Pair(labels, {{4, 6, 6, 1}, Dtype::f32}).added("binary_io_u"), Shape{6});
  EXPECT_EQ(Pair(labels, scores).weighted("mean_io_u", {{4, 6}, Dtype::f32}, by_class), Shape{9});
}

TEST(CountingMetrics, GiveAResultForEachThresholdOrClass) {
  const std::array<float, 6> counts{3, 1, 4, 1, 5, 10};  // of both, of positive, of labels, of all
  const ConfigEntries two{{"thresholds", Numbers{0.3, 0.7}}};
  const auto results = [&](const char* name) { return make_metric(name, two)->results(counts); };
  EXPECT_THAT(results("precision"), ElementsAre(0.75, 1));
  EXPECT_THAT(results("recall"), ElementsAre(0.6, 0.2));
  EXPECT_THAT(results("true_positives"), ElementsAre(3, 1));
  EXPECT_THAT(results("false_positives"), ElementsAre(1, 0));
  EXPECT_THAT(results("false_negatives"), ElementsAre(2, 4));
  EXPECT_THAT(results("true_negatives"), ElementsAre(4, 5));
  EXPECT_THAT(make_metric("f1_score", {{"average", std::string("none")}})->results(counts),
              ElementsAre(6.0 / 9, 2.0 / 11));
}

TEST(CountingMetrics, HaveKerasNames) {
  for (const char* const name : {"MeanIoU", "OneHotMeanIoU"}) EXPECT_NO_THROW(make_metric(name, of_classes(2))) << name;
  EXPECT_EQ(make_metric("AUC")->name(), "AUC");
  EXPECT_EQ(make_metric("log_cosh_error")->name(), "log_cosh_error");
  EXPECT_EQ(make_metric("true_positives")->direction(), std::nullopt);
  EXPECT_EQ(make_metric("mape")->direction(), Direction::down);
}

TEST(CountingMetrics, Refuse) {
  const auto integer = [](std::int64_t value) { return ConfigValue(value); };
  EXPECT_ERROR("precision: thresholds must be from 0 to 1, got 1.5", make_metric("precision", {{"thresholds", 1.5}}));
  EXPECT_ERROR("recall: thresholds must have at least one number", make_metric("recall", {{"thresholds", Numbers{}}}));
  EXPECT_ERROR("precision: top_k must be at least 1, got 0", make_metric("precision", {{"top_k", integer(0)}}));
  EXPECT_ERROR(
      "precision: top_k 11 needs predictions [batch, classes] of at least as many classes, got "
      "float32[4, 10]",
      Pair().added("precision", {{"top_k", integer(11)}}));
  EXPECT_ERROR("recall: class_id 10 is not among the classes of predictions float32[4, 10]",
               Pair().added("recall", {{"class_id", integer(10)}}));
  EXPECT_ERROR(HasSubstr("auc: unknown summation_method 'middle' (known: interpolation, majoring, minoring)"),
               make_metric("auc", {{"summation_method", std::string("middle")}}));
  EXPECT_ERROR("auc: num_labels is for multi_label = true only", make_metric("auc", {{"num_labels", integer(3)}}));
  EXPECT_ERROR("auc: predictions float32[4, 10] have 10 labels, and 2 are expected",
               Pair().added("auc", {{"label_weights", Numbers{1, 2}}}));
  EXPECT_ERROR("auc: multi_label needs predictions [batch, labels], got float32[4, 5, 2]",
               Pair({{4, 5, 2}, Dtype::f32}, {{4, 5, 2}, Dtype::f32}).added("auc", {{"multi_label", true}}));
  EXPECT_ERROR("mean_io_u: option 'num_classes' is required; it is an integer", make_metric("mean_io_u"));
  EXPECT_ERROR("io_u: target_class_ids has 3; the classes are 0 to 2",
               make_metric("io_u", of_classes(3, {{"target_class_ids", Shape{0, 3}}})));
  EXPECT_ERROR("binary_io_u: target_class_ids must name a class",
               make_metric("binary_io_u", {{"target_class_ids", Shape{}}}));
  EXPECT_ERROR(HasSubstr("one_hot_mean_io_u: 3 classes along axis -1 are expected, got float32[4, 10]"),
               Pair().added("one_hot_mean_io_u", of_classes(3)));
  EXPECT_ERROR("mean_io_u: labels of [4, 10] places are expected, as the predictions have, got [4]",
               Pair({{4}, Dtype::i64}).added("mean_io_u", of_classes(3)));
  EXPECT_ERROR("r2_score: predictions must be [batch, numbers], got float32[4]",
               Pair({{4}, Dtype::f32}, {{4}, Dtype::f32}).added("r2_score"));
  EXPECT_ERROR(HasSubstr("r2_score: unknown class_aggregation 'sum'"),
               make_metric("r2_score", {{"class_aggregation", std::string("sum")}}));
  EXPECT_ERROR(
      "sample weights: one number per example is expected for the values float32[4, 10] of precision, got "
      "float32[5]",
      Pair().weighted("precision", {{5}, Dtype::f32}));
}

}  // namespace
}  // namespace gpubench::counting_metrics_test
