// Limits of gradients, weights of examples, regularizers and metrics with a state of their own mean the same for a
// whole batch, for parts that are accumulated, and for replicas.
#include <cmath>
#include <gmock/gmock.h>

#include "core/exec/replicated_executor.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/train/weighted_metric.h"
#include "tests/core/train/fixture.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class TrainingOptions : public ::testing::Test {
 protected:
  struct Trained {
    std::vector<float> weights;
    Logs logs, evaluated;
  };
  enum class How : std::uint8_t { whole, accumulated, replicas, scaled };

  static CompileConfig config(const ConfigEntries& optimizer = {}, const char* name = "sgd") {
    return {make_optimizer(name, optimizer), {make_loss("categorical_crossentropy")}, {make_metric("accuracy")}, {}};
  }

  static ModelPtr regularized(const char* kernel) {
    return std::make_shared<Model>("regularized",
                                   std::vector{make_layer("Dense", {{"units", std::int64_t{3}},
                                                                    {"activation", std::string("softmax")},
                                                                    {"kernel_regularizer", std::string(kernel)},
                                                                    {"bias_regularizer", std::string("l1")},
                                                                    {"input_shape", Shape{4}}})});
  }

  /// Two epochs of two batches of 24.
  Trained train(CompileConfig config, How how = How::whole, bool weighted = false, ModelPtr model = nullptr) {
    seed = 3;
    if (how == How::accumulated) config.gradient_accumulation_steps = 4;
    if (how == How::scaled) config.loss_scale = std::make_shared<LossScale>(Config("scale", LossScale::fields(), {}));
    if (how == How::replicas) {
      ReplicaOptions options;
      options.devices = {{DeviceId::Kind::cpu, 0, {}}, {DeviceId::Kind::cpu, 1, {}}};
      options.shares = {3, 1};
      config.replicas = std::make_shared<Replicas>(runtime, std::move(options), nullptr);
    }
    Trainer trained(runtime, factory, model ? std::move(model) : support::small_classifier(), std::move(config));
    const DatasetPtr data = batches_of(weighted ? arrays_with_weights() : arrays(), 24);
    fit(trained, *data, {.epochs = 2});
    const Logs logs = trained.read_metrics();
    return {flat(trained.weights()), logs, trained.evaluate(*data)};
  }

  std::vector<HostTensor> arrays() { return {blobs.points, blobs.one_hot}; }
  /// The weight of class c is 1, 3, 0.
  std::vector<HostTensor> arrays_with_weights() {
    HostTensor weights(TensorType{{48}, Dtype::f32});
    for (std::size_t i = 0; i < 48; ++i) {
      weights.values<float>()[i] = class_weights[static_cast<std::size_t>(blobs.indices.values<std::int64_t>()[i])];
    }
    return {blobs.points, blobs.one_hot, weights};
  }

  void expect_near(const Trained& a, const Trained& b, float tolerance = 2e-6F) {
    EXPECT_THAT(a.weights, Pointwise(::testing::FloatNear(tolerance), b.weights));
    for (const auto& [name, value] : a.logs) EXPECT_NEAR(*find_log(b.logs, name), value, tolerance * 10) << name;
    for (const auto& [name, value] : a.evaluated)
      EXPECT_NEAR(*find_log(b.evaluated, name), value, tolerance * 10) << name;
  }

  const Blobs blobs{48};
  const std::vector<float> class_weights{1, 3, 0};
  Devices devices{support::cpu_devices(std::vector<LogicalDevice>(2, {.threads = 1}))};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
};

TEST_F(TrainingOptions, LimitsAreOfTheWholeBatchsGradients) {
  for (const char* const limit : {"clipnorm", "clipvalue", "global_clipnorm"}) {
    SCOPED_TRACE(limit);
    const ConfigEntries entries{{"learning_rate", 0.5}, {limit, 0.05}};
    const Trained whole = train(config(entries));
    EXPECT_NE(whole.weights, train(config({{"learning_rate", 0.5}})).weights);
    for (const How how : {How::accumulated, How::replicas, How::scaled})
      expect_near(train(config(entries), how), whole);
  }
}

TEST_F(TrainingOptions, ALargeLimitChangesNothing) {
  const Trained plain = train(config());
  EXPECT_EQ(train(config({{"clipnorm", 1e6}})).weights, plain.weights);
  EXPECT_EQ(train(config({{"clipvalue", 1e6}})).weights, plain.weights);
  EXPECT_EQ(train(config({{"global_clipnorm", 1e6}})).weights, plain.weights);
}

TEST_F(TrainingOptions, WeightsOfExamplesAndOfClassesAreTheSame) {
  const Trained by_example = train(config(), How::whole, true);
  CompileConfig by_class = config();
  by_class.class_weights = class_weights;
  const Trained classes = train(by_class);
  EXPECT_EQ(classes.weights, by_example.weights);
  EXPECT_NE(train(config()).weights, by_example.weights);
  for (const How how : {How::accumulated, How::replicas, How::scaled}) {
    expect_near(train(config(), how, true), by_example);
    by_class.optimizer = make_optimizer("sgd");
    const Trained parts = train(by_class, how);
    EXPECT_THAT(parts.weights, Pointwise(::testing::FloatNear(2e-6F), by_example.weights));
  }
}

TEST_F(TrainingOptions, SumsAreOfTheWholeBatch) {
  const auto summed = [&](How how) {
    CompileConfig sum = config({{"learning_rate", 0.01}});
    sum.losses = {make_loss("mse", {{"reduction", std::string("sum")}})};
    return train(std::move(sum), how);
  };
  const Trained whole = summed(How::whole);
  CompileConfig mean = config({{"learning_rate", 0.24}});  // 24 times as much, for the mean of 24
  mean.losses = {make_loss("mse")};
  EXPECT_THAT(train(std::move(mean)).weights, Pointwise(::testing::FloatNear(2e-6F), whole.weights));
  for (const How how : {How::accumulated, How::replicas}) expect_near(summed(how), whole, 1e-5F);
}

TEST_F(TrainingOptions, PenaltiesCountOnce) {
  const Trained whole = train(config(), How::whole, false, regularized("l1_l2(l1=0.1, l2=0.2)"));
  EXPECT_NE(train(config(), How::whole, false, regularized("l2")).weights, whole.weights);
  for (const How how : {How::accumulated, How::replicas, How::scaled}) {
    expect_near(train(config(), how, false, regularized("l1_l2(l1=0.1, l2=0.2)")), whole);
  }
}

TEST_F(TrainingOptions, EveryLayerWithAnInitializerHasARegularizer) {
  const LayerPtr tokens_in = make_layer("Input", {{"shape", Shape{1}}, {"dtype", std::string("int64")}});
  const LayerPtr embedding = make_layer("Embedding", {{"input_dim", std::int64_t{3}},
                                                      {"output_dim", std::int64_t{2}},
                                                      {"embeddings_initializer", std::string("ones")},
                                                      {"embeddings_regularizer", std::string("l1_l2(l1=1, l2=1)")}});
  const auto model = std::make_shared<Model>("tokens", std::vector{tokens_in, embedding, make_layer("Flatten")});
  CompileConfig zero{
      make_optimizer("sgd"),
      {make_custom_loss(
          "zero", [](Graph& graph, Value, Value y) { return ops::mul(graph, y, ops::scalar(graph, 0, Dtype::f32)); })},
      {},
      {}};
  Trainer trained(runtime, factory, model, std::move(zero));
  HostTensor tokens = HostTensor::zeros({{4, 1}, Dtype::i64}), labels = HostTensor::zeros({{4, 2}, Dtype::f32});
  EXPECT_NEAR(*find_log(trained.evaluate(*batches_of({tokens, labels}, 4)), "loss"), 12, 1e-5);
}

TEST_F(TrainingOptions, StatesOfMetricsAddUp) {
  const auto measured = [&](How how) {
    CompileConfig all = config();
    for (const char* const name :
         {"auc", "precision", "f1_score", "root_mean_squared_error", "true_negatives", "r2_score"}) {
      all.metrics.push_back(make_metric(name));
    }
    all.metrics.push_back(make_metric("recall", {{"thresholds", Numbers{0.3, 0.7}}}));
    all.metrics.push_back(make_metric("one_hot_mean_io_u", {{"num_classes", std::int64_t{3}}}));
    return train(std::move(all), how);
  };
  const Trained whole = measured(How::whole);
  EXPECT_EQ(whole.evaluated.size(), 11U);
  EXPECT_GT(*find_log(whole.evaluated, "auc"), 0);
  EXPECT_GE(*find_log(whole.evaluated, "recall[1]"), *find_log(whole.evaluated, "recall[2]"));
  for (const How how : {How::accumulated, How::replicas}) expect_near(measured(how), whole);
}

TEST_F(TrainingOptions, MetricsThatCountTakeWeights) {
  const auto measured = [&](How how, bool weighted) {
    CompileConfig all = config({{"learning_rate", 0.5}});
    for (const char* const name : {"auc", "precision", "f1_score", "true_positives", "r2_score"})
      all.metrics.push_back(std::make_shared<const WeightedMetric>(make_metric(name), name));
    return train(std::move(all), how, weighted);
  };
  const Trained whole = measured(How::whole, true), alike = measured(How::whole, false);
  EXPECT_GT(*find_log(whole.evaluated, "true_positives"), 0);
  EXPECT_NE(*find_log(whole.evaluated, "true_positives"), *find_log(alike.evaluated, "true_positives"));
  for (const How how : {How::accumulated, How::replicas}) expect_near(measured(how, true), whole, 1e-5F);
}

TEST_F(TrainingOptions, AveragesOfWeightsAreOfWholeSteps) {
  for (const std::int64_t frequency : {0, 2}) {
    SCOPED_TRACE(frequency);
    const ConfigEntries entries{
        {"learning_rate", 0.5}, {"use_ema", true}, {"ema_momentum", 0.5}, {"ema_overwrite_frequency", frequency}};
    const Trained whole = train(config(entries));
    EXPECT_NE(whole.weights, train(config({{"learning_rate", 0.5}})).weights);
    for (const How how : {How::accumulated, How::replicas, How::scaled})
      expect_near(train(config(entries), how), whole);
  }
}

TEST_F(TrainingOptions, RatesOfGroupsAreThoseOfOtherOptimizers) {
  const auto trained = [&](How how, double factor) {
    CompileConfig grouped = config({{"learning_rate", 0.5}});
    grouped.optimizer->multiply_learning_rate({"kernel"}, factor);
    return train(std::move(grouped), how);
  };
  const Trained half = trained(How::whole, 0.5);
  EXPECT_EQ(trained(How::whole, 1).weights, train(config({{"learning_rate", 0.5}})).weights);
  EXPECT_NE(half.weights, trained(How::whole, 1).weights);
  for (const How how : {How::accumulated, How::replicas, How::scaled}) expect_near(trained(how, 0.5), half);
}

TEST_F(TrainingOptions, LossWeightsScaleTheLoss) {
  CompileConfig half = config({{"learning_rate", 0.2}});
  half.loss_weights = {0.5};
  EXPECT_THAT(train(std::move(half)).weights,
              Pointwise(::testing::FloatNear(2e-6F), train(config({{"learning_rate", 0.1}})).weights));
}

TEST_F(TrainingOptions, Refuses) {
  CompileConfig two = config();
  two.loss_weights = {1, 2};
  EXPECT_ERROR("model 'small': has 1 outputs, so it takes 1 loss_weights, got 2", train(two));
  CompileConfig none = config();
  none.losses = {make_loss("mse", {{"reduction", std::string("none")}})};
  EXPECT_ERROR(HasSubstr("reduction 'none' leaves no number to minimize"), train(none));
  CompileConfig classes = config();
  classes.class_weights = {1, 1, 1, 2};
  EXPECT_ERROR("class_weight: model 'small' has the classes 0 to 2, got a weight for class 3", train(classes));
  Trainer trained(runtime, factory, support::small_classifier(), config());
  EXPECT_ERROR(
      "sample weights: one number per example is expected for the values float32[24] of "
      "categorical_crossentropy, got float32[24, 4]",
      trained.evaluate(*batches_of({blobs.points, blobs.one_hot, blobs.points}, 24)));
  EXPECT_ERROR(HasSubstr("mean_squared_error: unknown reduction 'avg'"),
               make_loss("mse", {{"reduction", std::string("avg")}}));
  EXPECT_ERROR("huber: delta must be above 0, got 0", make_loss("huber", {{"delta", 0.0}}));
  EXPECT_ERROR(HasSubstr("Dense: option 'kernel_regularizer': unknown regularizer 'l3'"), regularized("l3"));
  EXPECT_ERROR(HasSubstr("regularizer 'l2(l2=-1)': l2 must be at least 0, got -1"), regularized("l2(l2=-1)"));
  EXPECT_ERROR("auc: curve must be 'ROC' or 'PR', got 'XY'", make_metric("auc", {{"curve", std::string("XY")}}));
  EXPECT_ERROR(HasSubstr("f1_score: unknown average 'mean'"),
               make_metric("f1_score", {{"average", std::string("mean")}}));
}

}  // namespace
}  // namespace gpubench
