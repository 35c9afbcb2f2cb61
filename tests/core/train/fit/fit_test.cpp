#include "core/train/fit/fit.h"

#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <limits>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/repeat.h"
#include "core/device/device.h"
#include "core/nn/architecture.h"
#include "core/train/batch_size_search.h"
#include "tests/core/train/fixture.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using support::small_classifier;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::ThrowsMessage;
using Fit = support::TrainTest;

const std::vector<double>& figure(const History& history, std::string_view name) {
  for (const auto& [known, values] : history.figures) {
    if (known == name) return values;
  }
  throw std::out_of_range(std::string(name));
}

TEST_F(Fit, DenseModelLearnsTheSampleDigits) {
  const ImageSet train = support::sample_digits("train"), test = support::sample_digits("test");
  Trainer model = trainer(support::dense_digits());
  FitOptions options;
  options.epochs = 3;
  options.validation = batches_of({test.images, test.labels}, 256);
  const History history = fit(model, *batches_of({train.images, train.labels}, 32, 1), options);
  EXPECT_GT(figure(history, "val_accuracy").back(), 0.92);
  EXPECT_LT(figure(history, "loss")[2], figure(history, "loss")[0]);
  EXPECT_EQ(history.epochs, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST_F(Fit, ConvolutionModelLearnsTheSampleDigits) {
  const ImageSetOptions images{.flatten = false, .one_hot = false, .scaled = true};
  const ImageSet train = support::sample_digits("train", images), test = support::sample_digits("test", images);
  Trainer model = trainer(support::convolution_digits(8), classifier("adam", "sparse_categorical_crossentropy"));
  FitOptions options;
  options.epochs = 2;
  fit(model, *batches_of({train.images, train.labels}, 64, 1), options);
  EXPECT_GT(*find_log(model.evaluate(*batches_of({test.images, test.labels}, 250)), "accuracy"), 0.9);
}

TEST_F(Fit, SameSeedGivesTheSameBytesAfterTwoSteps) {
  const Blobs blobs(64);
  const auto two_steps = [&] {
    seed = 7;
    Trainer model = trainer(small_classifier());
    FitOptions options;
    options.steps_per_epoch = 2;
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 32, 3), options);
    return flat(model.weights());
  };
  EXPECT_EQ(two_steps(), two_steps());
}

TEST_F(Fit, EagerEqualsGraph) {
  const Blobs blobs(96);
  const auto train = [&](Execution execution, std::set<std::string> disabled) {
    seed = 7;
    CompileConfig config = classifier();
    config.executor.execution = execution;
    config.executor.passes.disabled = std::move(disabled);
    Trainer model = trainer(small_classifier(), std::move(config));
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 32, 3), {.epochs = 3});
    return flat(model.weights());
  };
  const std::vector<float> planned = train(Execution::graph, {});
  EXPECT_THAT(train(Execution::eager, {}), Pointwise(::testing::FloatNear(1e-4F), planned));
  EXPECT_THAT(train(Execution::graph, {"fuse_epilogue", "fuse_softmax_cross_entropy"}),
              Pointwise(::testing::FloatNear(1e-4F), planned));
}

TEST_F(Fit, TrainsAPartialLastBatchWithTheSameVariables) {
  const Blobs blobs(50);
  Trainer model = trainer(small_classifier());
  fit(model, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 1});
  EXPECT_EQ(runtime.variables().read(*model.config().optimizer->iterations()).values<std::int64_t>()[0], 2);
}

TEST_F(Fit, MeansWeighExamplesNotBatches) {
  const Blobs blobs(50);
  Trainer model = trainer(small_classifier());
  model.build(std::vector<TensorType>{{{32, 4}, Dtype::f32}});
  const Logs whole = model.evaluate(*batches_of({blobs.points, blobs.one_hot}, 50));
  const Logs parts = model.evaluate(*batches_of({blobs.points, blobs.one_hot}, 32));
  EXPECT_NEAR(*find_log(whole, "loss"), *find_log(parts, "loss"), 1e-5);
  EXPECT_NEAR(*find_log(whole, "accuracy"), *find_log(parts, "accuracy"), 1e-6);
}

TEST_F(Fit, EveryOptimizerLearns) {
  const Blobs blobs(300);
  const std::vector<std::pair<std::string, ConfigEntries>> optimizers = {
      {"sgd", {{"learning_rate", 0.3}}},
      {"sgd", {{"learning_rate", 0.1}, {"momentum", 0.9}, {"nesterov", true}}},
      {"adam", {{"learning_rate", 0.01}}},
      {"AdamW", {{"learning_rate", 0.01}}},
      {"rmsprop", {{"learning_rate", 0.01}}},
      {"rmsprop", {{"learning_rate", 0.003}, {"momentum", 0.5}, {"centered", true}}}};
  for (const auto& [name, entries] : optimizers) {
    CompileConfig config = classifier();
    config.optimizer = make_optimizer(name, entries);
    Trainer model = trainer(small_classifier(), std::move(config));
    const History history = fit(model, *batches_of({blobs.points, blobs.one_hot}, 20, 1), {.epochs = 8});
    EXPECT_GT(figure(history, "accuracy").back(), 0.95) << name;
  }
}

TEST_F(Fit, ScheduleLowersTheRate) {
  const Blobs blobs(64);
  CompileConfig config = classifier();
  config.optimizer = make_optimizer(
      "sgd", {},
      make_schedule("exponential_decay",
                    {{"initial_learning_rate", 0.0}, {"decay_steps", std::int64_t{1}}, {"decay_rate", 0.5}}));
  Trainer model = trainer(small_classifier(), std::move(config));
  model.build(std::vector<TensorType>{{{32, 4}, Dtype::f32}});
  const std::vector<float> before = flat(model.weights());
  fit(model, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 2});
  EXPECT_EQ(flat(model.weights()), before);  // a rate of zero: the graph took it from the schedule
  EXPECT_ERROR("optimizer sgd: its learning rate cannot be set: it follows a schedule", model.set_learning_rate(0.1));
}

TEST_F(Fit, ARateIsZeroOrMore) {
  const Blobs blobs(32);
  Trainer model = trainer(small_classifier());
  fit(model, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 1});
  for (const double rate : {-1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_ERROR(HasSubstr("at least 0 is expected, got"), model.set_learning_rate(rate));
  EXPECT_ERROR("sgd: nesterov needs a momentum above 0, such as momentum = 0.9",
               make_optimizer("sgd", {{"nesterov", true}}));
}

TEST_F(Fit, StepsPerEpochContinuesTheDataset) {
  const Blobs blobs(64);
  Trainer model = trainer(small_classifier());
  fit(model, *batches_of({blobs.points, blobs.one_hot}, 16), {.epochs = 3, .steps_per_epoch = 3});
  EXPECT_EQ(runtime.variables().read(*model.config().optimizer->iterations()).values<std::int64_t>()[0], 9);
}

TEST_F(Fit, TrainsBranchesWithSeveralInputsAndOutputs) {
  const Blobs blobs(60);
  const SymbolPtr a = apply_layer(make_layer("Input", {{"shape", Shape{4}}}), {});
  const SymbolPtr b = apply_layer(make_layer("Input", {{"shape", Shape{4}}}), {});
  const LayerPtr shared = support::dense(4, "relu");
  const SymbolPtr sum = apply_layer(make_layer("Add"), {apply_layer(shared, {a}), apply_layer(shared, {b})});
  const auto model = std::make_shared<Model>(
      "two", std::vector{a, b},
      std::vector{apply_layer(support::dense(3, "softmax"), {sum}), apply_layer(support::dense(3, "softmax"), {sum})});
  CompileConfig config = classifier();
  config.optimizer = make_optimizer("adam", {{"learning_rate", 0.01}});
  Trainer two = trainer(model, std::move(config));
  const auto data = batches_of({blobs.points, blobs.points, blobs.one_hot, blobs.one_hot}, 20, 1);
  const History history = fit(two, *data, {.epochs = 30});
  EXPECT_LT(figure(history, "loss").back(), 0.5 * figure(history, "loss").front());
  EXPECT_EQ(figure(history, "dense_1_accuracy").size(), 30U);
  EXPECT_EQ(two.predict(*data).size(), 2U);
}

TEST_F(Fit, TrainsDropoutAndBatchNormalization) {
  const Blobs blobs(300);
  const auto model = std::make_shared<Model>(
      "regularized", std::vector{support::dense(16, "relu", {4}), make_layer("BatchNormalization", {{"momentum", 0.9}}),
                                 make_layer("Dropout", {{"rate", 0.2}}), support::dense(3, "softmax")});
  Trainer regularized = trainer(model);
  const auto data = batches_of({blobs.points, blobs.one_hot}, 20, 1);
  fit(regularized, *data, {.epochs = 10});
  const Logs logs = regularized.evaluate(*data);
  EXPECT_GT(*find_log(logs, "accuracy"), 0.9);
  const HostTensor moving_mean = runtime.variables().read(*model->variables()[4]);
  EXPECT_EQ(model->variables()[4]->name, "batch_normalization/moving_mean");
  EXPECT_NE(flat({moving_mean}), std::vector<float>(16, 0.0F));
}

TEST_F(Fit, TakesBytesAsImages) {
  const ImageSetOptions raw{.flatten = true, .one_hot = false, .scaled = false};
  const ImageSet train = support::sample_digits("train", raw);
  Trainer model = trainer(support::dense_digits(), classifier("sgd", "sparse_categorical_crossentropy"));
  model.predict(*batches_of({train.images.rows(0, 10)}, 5));
}

TEST_F(Fit, CustomLossAndMetricAreGraphFunctions) {
  const Blobs blobs(60);
  CompileConfig config = classifier();
  const LossPtr inner = make_loss("mean_squared_error");
  config.losses = {make_custom_loss("mine", [inner](Graph& graph, Value labels, Value predictions) {
    return inner->call(graph, labels, predictions);
  })};
  config.metrics = {make_custom_metric("mean_error", [inner](Graph& graph, Value labels, Value predictions) {
    return inner->call(graph, labels, predictions);
  })};
  Trainer model = trainer(small_classifier(), std::move(config));
  const History history = fit(model, *batches_of({blobs.points, blobs.one_hot}, 20), {.epochs = 2});
  EXPECT_NEAR(figure(history, "loss")[1], figure(history, "mean_error")[1], 1e-6);
}

TEST_F(Fit, LabelsOutOfRangeAreAnError) {
  Blobs blobs(20);
  blobs.indices.values<std::int64_t>()[13] = 3;
  Trainer model = trainer(small_classifier(), classifier("adam", "sparse_categorical_crossentropy"));
  EXPECT_ERROR(
      "sparse_categorical_crossentropy: label 3 of example 3 is out of range; the model "
      "has 3 classes, 0 to 2",
      fit(model, *batches_of({blobs.points, blobs.indices}, 10), {}));
  blobs.indices.values<std::int64_t>()[13] = -1;
  EXPECT_ERROR(HasSubstr("label -1 of example 13 is out of range"),
               model.evaluate(*batches_of({blobs.points, blobs.indices}, 20)));
}

TEST_F(Fit, RefusesWhatCannotTrain) {
  const Blobs blobs(20);
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 10);
  Trainer model = trainer(small_classifier());
  EXPECT_ERROR("fit: epochs must be at least 1, got 0", fit(model, *data, {.epochs = 0}));
  EXPECT_ERROR("fit: the dataset never ends; give steps_per_epoch or use take", fit(model, *repeat(data), {}));
  EXPECT_ERROR("evaluate: the dataset never ends; use take, or give a number of steps", model.evaluate(*repeat(data)));
  EXPECT_ERROR("predict: the dataset never ends; use take, or give a number of steps", model.predict(*repeat(data)));
  EXPECT_ERROR(
      "model 'small': an element must be 1 input and 1 label, and may have weights of the "
      "examples behind them, got a tuple of 1",
      fit(model, *batches_of({blobs.points}, 10), {}));
  EXPECT_ERROR(HasSubstr("expects 1 input of shape [4] per example, got 1 of shape [3]"),
               fit(model, *batches_of({blobs.one_hot, blobs.one_hot}, 10), {}));
  Trainer uncompiled(runtime, factory, small_classifier(), {});
  EXPECT_ERROR("model 'small': has not been compiled; call compile with an optimizer and a loss first",
               fit(uncompiled, *data, {}));
  EXPECT_EQ(uncompiled.predict(*data)[0].shape(), (Shape{20, 3}));
}

/// Calls a function at the end of the second batch.
class AtSecondBatch final : public Callback {
 public:
  explicit AtSecondBatch(std::function<void()> call) : call_(std::move(call)) {}
  void on_batch_end(Training&, std::int64_t batch, const Logs&) override {
    if (batch == 1) call_();
  }
  bool wants_batches() const override { return true; }
  void leave() noexcept override { ++left; }
  int left = 0;

 private:
  std::function<void()> call_;
};

TEST_F(Fit, WhatALoopGoesOnWithStaysWhileItLives) {
  const Blobs blobs(40);
  Trainer model = trainer(small_classifier());
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 10);
  const auto is_refused = [&](const char* operation, const char* doing) {
    const auto message = ThrowsMessage<Error>(
        HasSubstr(fmt::format("{0}: model 'small' is {1}; {0} is possible before and after fit", operation, doing)));
    EXPECT_THAT([&] { model.require_idle(operation); }, message);
  };
  int calls = 0;
  FitOptions options;
  options.callbacks = {std::make_shared<AtSecondBatch>([&] {
    ++calls;
    is_refused("compile", "being trained");
    EXPECT_THROW(model.release_plans(), Error);
    EXPECT_THROW(model.set_class_weights({1, 2, 3}), Error);
    const BatchSource source = [&](std::int64_t size) { return batches_of({blobs.points, blobs.one_hot}, size); };
    EXPECT_THROW(find_batch_size(model, source, {.limit = 1U << 30U}), Error);
    model.set_class_weights({});
    model.evaluate(*data);
  })};
  fit(model, *data, options);
  EXPECT_EQ(calls, 1);
  {
    const StepLoop steps = model.evaluation_loop();
    is_refused("compile", "being evaluated");
  }
  {
    const StepLoop steps = model.prediction_loop();
    is_refused("compile", "predicting");
  }
  model.require_idle("compile");
  model.set_class_weights({1, 2, 3});
  model.release_plans();
  fit(model, *data, {});
}

TEST_F(Fit, LoopsWithinALoopLeaveItsFigures) {
  const Blobs blobs(40);
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 10);
  const auto losses = [&](const std::function<void(Trainer&)>& within) {
    seed = 7;
    Trainer model = trainer(small_classifier(), classifier("sgd"));
    model.prepare_training(data->element_types());
    model.set_learning_rate(0);
    FitOptions options;
    options.epochs = 2;
    options.callbacks = {std::make_shared<AtSecondBatch>([&] { within(model); })};
    return figure(fit(model, *data, options), "loss");
  };
  const std::vector<double> alone = losses([](Trainer&) {});
  const DatasetPtr half = batches_of({blobs.points.rows(0, 20), blobs.one_hot.rows(20, 40)}, 10);
  EXPECT_EQ(losses([&](Trainer& model) { model.evaluate(*half); }), alone);
  EXPECT_EQ(losses([&](Trainer& model) { train_steps(model, *half); }), alone);
  EXPECT_EQ(losses([&](Trainer& model) { fit(model, *half, {}); }), alone);
  EXPECT_EQ(losses([&](Trainer& model) {
              StepLoop steps = model.training_loop();
              const auto cursor = half->open();
              ASSERT_TRUE(steps.step(*cursor));
            }),
            alone);
}

TEST_F(Fit, ACallbackBelongsToOneFitAndIsLeftHoweverItEnds) {
  const Blobs blobs(40);
  Trainer model = trainer(small_classifier());
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 10);
  FitOptions options;
  std::function<void()> call = [&] {
    EXPECT_ERROR("fit: callback 1 belongs to a fit that is running; make another one for this fit",
                 fit(model, *data, options));
  };
  const auto shared = std::make_shared<AtSecondBatch>([&] { call(); });
  options.callbacks = {shared, shared};
  fit(model, *data, options);
  EXPECT_EQ(shared->left, 1);
  call = [] { throw Error("odd"); };
  EXPECT_THROW(fit(model, *data, options), Error);
  EXPECT_EQ(shared->left, 2);
}

TEST_F(Fit, AnInterruptEndsTheLoop) {
  const Blobs blobs(20);
  Trainer model = trainer(small_classifier());
  request_interrupt();
  EXPECT_THROW(fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), {}), Interrupted);
  clear_interrupt();
}

TEST_F(Fit, TrainsLayersOnSeveralDevices) {
  const Devices two(support::cpu_devices({{}, {}}));
  const auto train = [&](const DeviceId& second) {
    Runtime own(two);
    std::uint64_t next = 6;
    StoreVariables variables(own, [&next] { return ++next; });
    const auto model = std::make_shared<Model>(
        "placed",
        std::vector{support::dense(8, "tanh", {4}),
                    make_layer("Dense", {{"units", std::int64_t{3}}, {"activation", std::string("softmax")}}, second)});
    const Blobs blobs(40);
    Trainer placed(own, variables, model, classifier());
    fit(placed, *batches_of({blobs.points, blobs.one_hot}, 16, 1), {.epochs = 2});
    EXPECT_EQ(model->variables()[2]->device, second);
    return flat(placed.weights());
  };
  const std::vector<float> together = train({});
  EXPECT_THAT(train({DeviceId::Kind::cpu, 1, ""}), Pointwise(::testing::FloatNear(1e-5F), together));
}

TEST_F(Fit, SameSeedTrainsTheDigitsToTheSameBytes) {
  const ImageSet train = support::sample_digits("train");
  const auto two_steps = [&] {
    seed = 7;
    Trainer model = trainer(support::dense_digits());
    fit(model, *batches_of({train.images.rows(0, 64), train.labels.rows(0, 64)}, 32, 3), {});
    return flat(model.weights());
  };
  EXPECT_EQ(two_steps(), two_steps());
}

TEST_F(Fit, FreesItsMemory) {
  const Blobs blobs(20);
  {
    Trainer model = trainer(small_classifier());
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 10), {});
    EXPECT_GT(devices.device({}).memory().use().in_use, 0U);
  }
  EXPECT_EQ(devices.device({}).memory().use().in_use, 0U);
}

}  // namespace
}  // namespace gpubench
