// A batch that is trained on in parts gives the update of the whole batch, in the memory of a part.
#include <gmock/gmock.h>

#include "core/exec/run/graph_executor.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using ::testing::Pointwise;

class GradientAccumulation : public support::TrainTest {
 protected:
  CompileConfig in_parts(std::int64_t parts, Execution execution = Execution::graph) {
    CompileConfig config = classifier();
    config.optimizer = make_optimizer("sgd", {{"learning_rate", 0.5}, {"momentum", 0.9}});
    config.gradient_accumulation_steps = parts;
    config.executor.execution = execution;
    return config;
  }

  struct Trained {
    std::vector<float> weights;
    Logs logs;
    std::int64_t updates;
  };

  /// Three steps of 48 examples.
  Trained train(const ModelPtr& model, CompileConfig config) {
    const Blobs blobs(144);
    Trainer trained = trainer(model, std::move(config));
    fit(trained, *batches_of({blobs.points, blobs.one_hot}, 48), {});
    const auto updates = runtime.variables().read(*trained.config().optimizer->iterations());
    return {flat(trained.weights()), trained.read_metrics(), updates.values<std::int64_t>()[0]};
  }

  /// The same first weights for every model.
  Trained train_small(std::int64_t parts, Execution execution = Execution::graph) {
    seed = 7;
    return train(support::small_classifier(), in_parts(parts, execution));
  }

  /// Of a model with much wider activations than weights.
  PlanFacts facts_of(std::int64_t parts, std::int64_t batch = 256) {
    const ModelPtr model = support::convolution_digits(8);
    Trainer trained = trainer(model, in_parts(parts));
    const HostTensor images = HostTensor::zeros({{batch, 28, 28, 1}, Dtype::f32});
    const HostTensor labels = HostTensor::zeros({{batch, 10}, Dtype::f32});
    StepLoop steps = trained.training_loop();
    const auto cursor = batches_of({images, labels}, batch)->open();
    steps.step(*cursor);
    return steps.plan().executor->facts();
  }
};

TEST_F(GradientAccumulation, EqualsTheWholeBatch) {
  const Trained whole = train_small(1);
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    for (const std::int64_t parts : {2, 3, 4, 48}) {
      const Trained in_parts = train_small(parts, execution);
      EXPECT_THAT(in_parts.weights, Pointwise(::testing::FloatNear(2e-6F), whole.weights)) << parts;
      EXPECT_EQ(in_parts.updates, 3);
      for (const auto& [name, value] : whole.logs) EXPECT_NEAR(*find_log(in_parts.logs, name), value, 1e-6) << name;
    }
  }
}

TEST_F(GradientAccumulation, EqualsTheWholeBatchWithDropout) {
  const auto dropped = [&](std::int64_t parts) {
    seed = 7;
    return train(std::make_shared<Model>(
                     "dropped", std::vector{support::dense(7, "tanh", {4}), make_layer("Dropout", {{"rate", 0.5}}),
                                            support::dense(3, "softmax")}),
                 in_parts(parts));
  };
  const Trained whole = dropped(1);
  for (const std::int64_t parts : {2, 3, 48}) {
    EXPECT_THAT(dropped(parts).weights, Pointwise(::testing::FloatNear(2e-6F), whole.weights)) << parts;
  }
}

TEST_F(GradientAccumulation, EqualsTheWholeBatchWithoutItsFusion) {
  const Trained whole = train_small(1);
  seed = 7;
  CompileConfig config = in_parts(4);
  config.executor.passes.disabled = {"fuse_accumulation"};
  EXPECT_THAT(train(support::small_classifier(), std::move(config)).weights,
              Pointwise(::testing::FloatNear(2e-6F), whole.weights));
}

TEST_F(GradientAccumulation, EqualsTheWholeBatchWhereALayerIsUsedTwice) {
  const auto shared = [&](std::int64_t parts) {
    seed = 7;
    const LayerPtr layer = support::dense(4, "tanh", {4});
    return train(std::make_shared<Model>("shared", std::vector{layer, layer, support::dense(3, "softmax")}),
                 in_parts(parts));
  };
  EXPECT_THAT(shared(4).weights, Pointwise(::testing::FloatNear(2e-6F), shared(1).weights));
}

TEST_F(GradientAccumulation, MovingStatisticsSeeEveryPartInOrder) {
  // In one step of two parts, the means of the parts come in one after the other.
  CompileConfig config = in_parts(2);
  config.optimizer = make_optimizer("sgd", {{"learning_rate", 0.0}});
  config.losses = {make_loss("mean_squared_error")};
  config.metrics.clear();
  const ModelPtr model = std::make_shared<Model>(
      "normalized", std::vector{make_layer("BatchNormalization", {{"momentum", 0.75}, {"input_shape", Shape{1}}})});
  Trainer trained = trainer(model, std::move(config));
  HostTensor x(TensorType{{4, 1}, Dtype::f32});
  std::ranges::copy(std::vector<float>{2, 4, 10, 30}, x.values<float>().begin());
  fit(trained, *batches_of({x, HostTensor::zeros({{4, 1}, Dtype::f32})}, 4), {});
  const float first = 0.25F * 3, both = 0.75F * first + 0.25F * 20;
  EXPECT_FLOAT_EQ(trained.weights()[2].values<float>()[0], both);
}

TEST_F(GradientAccumulation, PartsDrawDifferentNumbers) {
  // With every input 1 and a loss that is the mean of what was kept, equal masks would give equal halves of the
  // gradient by the kernel that follows.
  const ModelPtr model = std::make_shared<Model>(
      "dropped",
      std::vector{make_layer("Dropout", {{"rate", 0.5}, {"input_shape", Shape{64}}}),
                  make_layer("Dense", {{"units", std::int64_t{1}}, {"kernel_initializer", std::string("zeros")}})});
  CompileConfig config = in_parts(2);
  config.optimizer = make_optimizer("sgd", {{"learning_rate", 1.0}});
  config.losses = {make_custom_loss("mean_output", [](Graph&, Value, Value y) { return y; })};
  config.metrics.clear();
  Trainer trained = trainer(model, std::move(config));
  HostTensor x(TensorType{{2, 64}, Dtype::f32});
  std::ranges::fill(x.values<float>(), 1.0F);
  fit(trained, *batches_of({x, HostTensor::zeros({{2, 1}, Dtype::f32})}, 2), {});
  // An element was dropped in both parts (0), in one (-1) or in none (-2): with equal masks never in one.
  const auto kernel = trained.weights()[0];
  EXPECT_GT(std::ranges::count(kernel.values<float>(), -1.0F), 8);
}

TEST_F(GradientAccumulation, ActivationsTakeTheMemoryOfAPart) {
  const PlanFacts whole = facts_of(1), parts = facts_of(4);
  EXPECT_LT(static_cast<double>(parts.arena_bytes), 0.3 * static_cast<double>(whole.arena_bytes));
  EXPECT_LT(static_cast<double>(parts.arena_bytes), 1.05 * static_cast<double>(parts.lower_bound));
}

TEST_F(GradientAccumulation, RefusesPartsThatDiffer) {
  const Blobs blobs(50);
  Trainer model = trainer(support::small_classifier(), in_parts(4));
  EXPECT_ERROR(
      "model 'small': a batch of 18 examples cannot be accumulated over "
      "gradient_accumulation_steps = 4 in equal parts; take a batch size that is a "
      "multiple of 4, and leave out a smaller last batch by dataset:batch(size, { "
      "drop_remainder = true })",
      fit(model, *batches_of({blobs.points, blobs.one_hot}, 32), {}));
}

}  // namespace
}  // namespace gpubench
