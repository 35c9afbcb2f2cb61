// Replicas that share a batch give the update of one device with all of it, and stay equal byte by byte.
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/exec/replicated_executor.h"
#include "core/ops/elementwise.h"
#include "tests/core/train/fixture.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::cpu;

using support::Blobs;
using support::flat;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class ReplicasTest : public ::testing::Test {
 protected:
  struct Trained {
    std::vector<float> weights;
    Logs logs;
    std::int64_t updates = 0;
  };

  ReplicasPtr replicas(std::size_t count, ReplicaOptions options = {}) {
    for (std::size_t i = 0; i < count; ++i) options.devices.push_back(cpu(static_cast<std::int16_t>(i)));
    return std::make_shared<Replicas>(runtime, std::move(options), nullptr);
  }

  CompileConfig config(const std::string& optimizer, ReplicasPtr with) {
    CompileConfig result{
        make_optimizer(optimizer), {make_loss("categorical_crossentropy")}, {make_metric("accuracy")}, {}};
    result.replicas = std::move(with);
    return result;
  }

  /// Two epochs of a batch of 32, one of 32 and one of `last` examples, from the same first weights.
  Trained train(CompileConfig config, std::int64_t last = 32, ModelPtr model = nullptr) {
    const Blobs blobs(64 + last);
    seed = 3;
    Trainer trained(runtime, factory, model ? model : support::small_classifier(), std::move(config));
    fit(trained, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 2});
    expect_equal_replicas(trained);
    const HostTensor updates = runtime.variables().read(*trained.config().optimizer->iterations());
    return {flat(trained.weights()), trained.read_metrics(), updates.values<std::int64_t>()[0]};
  }

  void expect_equal_replicas(Trainer& trained) {
    const ReplicasPtr& all = trained.config().replicas;
    if (all == nullptr) return;
    std::vector<VariablePtr> variables = trained.model().variables();
    std::ranges::copy(trained.config().optimizer->state_of(trained.model().trainable_variables()),
                      std::back_inserter(variables));
    std::ranges::copy(trained.metric_variables(), std::back_inserter(variables));
    for (const VariablePtr& variable : variables) {
      const MirroredVariablePtr mirrored = all->mirrored(variable);
      const HostTensor first = runtime.variables().read(*variable);
      for (int replica = 1; replica < all->size(); ++replica) {
        const HostTensor other =
            all->runtime(replica).variables().read(*mirrored->mirrors[static_cast<std::size_t>(replica)]);
        EXPECT_EQ(std::memcmp(first.data(), other.data(), first.bytes()), 0) << variable->name << " of " << replica;
      }
    }
  }

  void expect_near(const Trained& shared, const Trained& alone, float tolerance) {
    EXPECT_THAT(shared.weights, Pointwise(::testing::FloatNear(tolerance), alone.weights));
    EXPECT_EQ(shared.updates, alone.updates);
    for (const auto& [name, value] : alone.logs) EXPECT_NEAR(*find_log(shared.logs, name), value, tolerance) << name;
  }

  Devices devices{support::cpu_devices(std::vector<LogicalDevice>(4, {.threads = 1}))};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
};

TEST_F(ReplicasTest, EveryOptimizerUpdatesAsOneDeviceDoes) {
  for (const OptimizerKind& kind : optimizer_kinds()) {
    const Trained alone = train(config(kind.name, nullptr));
    for (const std::size_t count : {1U, 2U, 3U, 4U}) {
      SCOPED_TRACE(kind.name + " on " + std::to_string(count));
      expect_near(train(config(kind.name, replicas(count))), alone, 2e-5F);
    }
  }
}

TEST_F(ReplicasTest, ALastBatchMayBeUnevenOrTooSmallForAll) {
  for (const std::int64_t last : {31, 5, 2, 1}) {
    SCOPED_TRACE(last);
    expect_near(train(config("sgd", replicas(3)), last), train(config("sgd", nullptr), last), 2e-6F);
  }
}

TEST_F(ReplicasTest, SharesMayDiffer) {
  expect_near(train(config("adam", replicas(2, {.devices = {}, .shares = {3, 1}}))), train(config("adam", nullptr)),
              2e-5F);
  const std::vector<BatchShare> shares =
      replicas(3, {.devices = {}, .shares = {1, 1, 2}})->split({.first = 8, .rows = 10, .total = 30});
  EXPECT_THAT(shares, ::testing::ElementsAre(BatchShare{8, 3, 30}, BatchShare{11, 2, 30}, BatchShare{13, 5, 30}));
}

TEST_F(ReplicasTest, EagerExecutionExchangesToo) {
  CompileConfig eager = config("adam", replicas(2));
  eager.executor.execution = Execution::eager;
  expect_near(train(std::move(eager), 7), train(config("adam", nullptr), 7), 2e-5F);
}

TEST_F(ReplicasTest, GradientsAreExchangedOncePerAccumulatedStep) {
  for (const std::size_t bucket : {std::size_t{1}, std::size_t{25} << 20}) {
    const ReplicasPtr all = replicas(2, {.devices = {}, .bucket_bytes = bucket});
    CompileConfig accumulated = config("sgd", all);
    accumulated.gradient_accumulation_steps = 4;
    const std::int64_t before = all->communicator(0).times().collectives;
    expect_near(train(std::move(accumulated)), train(config("sgd", nullptr)), 2e-6F);
    // Six steps; four gradients and the sums of two metrics, in a bucket each or in one.
    EXPECT_EQ(all->communicator(0).times().collectives - before, bucket == 1 ? 36 : 6);
  }
}

TEST_F(ReplicasTest, ABucketBesideTheKernelsGivesTheSame) {
  // Every gradient of the chain but the last has kernels that run beside its exchange.
  const auto deep = [] {
    return std::make_shared<Model>("deep", std::vector{support::dense(16, "tanh", {4}), support::dense(16, "tanh"),
                                                       support::dense(16, "tanh"), support::dense(3, "softmax")});
  };
  const Trained alone = train(config("sgd", nullptr), 32, deep());
  for (const std::size_t bucket : {1U, 600U, 2000U}) {
    expect_near(train(config("sgd", replicas(3, {.devices = {}, .bucket_bytes = bucket})), 32, deep()), alone, 2e-6F);
  }
}

TEST_F(ReplicasTest, CompressedGradientsAreRounded) {
  const Trained alone = train(config("sgd", nullptr));
  for (const Dtype type : {Dtype::f16, Dtype::bf16}) {
    const Trained compressed = train(config("sgd", replicas(2, {.devices = {}, .compression = type})));
    expect_near(compressed, alone, 1e-3F);
    EXPECT_NE(compressed.weights, alone.weights);
  }
}

TEST_F(ReplicasTest, LossScalingSkipsOnAllReplicasWhereOneOverflows) {
  const auto scaled = [&](ReplicasPtr with) {
    CompileConfig result = config("sgd", std::move(with));
    result.losses = {make_custom_loss("large", [](Graph& graph, Value labels, Value predictions) {
      const Value error = ops::sub(graph, predictions, labels);
      return ops::mul(graph, ops::mul(graph, error, error), graph.constant(1000.0F));
    })};
    result.loss_scale =
        std::make_shared<LossScale>(Config("LossScaleOptimizer", LossScale::fields(), {{"initial_scale", 0x1p123}}));
    return result;
  };
  const Trained alone = train(scaled(nullptr)), shared = train(scaled(replicas(2)));
  EXPECT_LT(alone.updates, 6);  // some were skipped
  EXPECT_GT(alone.updates, 0);
  expect_near(shared, alone, 1e-3F);
}

TEST_F(ReplicasTest, MovingStatisticsBecomeTheMeanOfAllReplicas) {
  CompileConfig both = config("sgd", replicas(2));
  both.losses = {make_loss("mean_squared_error")};
  both.metrics.clear();
  const auto model = std::make_shared<Model>(
      "normalized", std::vector{make_layer("BatchNormalization", {{"momentum", 0.75}, {"input_shape", Shape{1}}})});
  Trainer trained(runtime, factory, model, std::move(both));
  HostTensor x(TensorType{{3, 1}, Dtype::f32});
  std::ranges::copy(std::vector<float>{2, 4, 30}, x.values<float>().begin());
  fit(trained, *batches_of({x, HostTensor::zeros({{3, 1}, Dtype::f32})}, 3), {});
  EXPECT_FLOAT_EQ(trained.weights()[2].values<float>()[0], 0.25F * (2.0F / 3 * 3 + 1.0F / 3 * 30));
  expect_equal_replicas(trained);
}

TEST_F(ReplicasTest, WhatIsWrittenFromOutsideReachesAll) {
  const Blobs blobs(32);
  Trainer trained(runtime, factory, support::small_classifier(), config("sgd", replicas(2)));
  const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, 32);
  fit(trained, *data, {});
  std::vector<HostTensor> weights = trained.weights();
  for (HostTensor& weight : weights) std::ranges::fill(weight.values<float>(), 0.0F);
  trained.set_weights(weights);
  const Logs logs = trained.evaluate(*data);
  EXPECT_NEAR(*find_log(logs, "loss"), std::log(3.0), 1e-6);
  fit(trained, *data, {});
  expect_equal_replicas(trained);
}

TEST_F(ReplicasTest, EvaluationAndPredictionAreThoseOfOneDevice) {
  const Blobs blobs(37);
  const auto model = support::small_classifier();
  Trainer alone(runtime, factory, model, config("sgd", nullptr));
  Trainer shared(runtime, factory, model, config("sgd", replicas(3)));
  for (const std::int64_t batch_size : {32, 36, 37}) {
    const DatasetPtr data = batches_of({blobs.points, blobs.one_hot}, batch_size);
    const Logs one = alone.evaluate(*data), three = shared.evaluate(*data);
    for (const auto& [name, value] : one) EXPECT_NEAR(*find_log(three, name), value, 1e-6) << name;
    // A product of fewer rows may add up in another order.
    EXPECT_THAT(flat(shared.predict(*data)), Pointwise(FloatNear(1e-6F), flat(alone.predict(*data))));
  }
}

TEST_F(ReplicasTest, AFailingReplicaEndsTheStepForAll) {
  const ReplicasPtr all = replicas(2);
  EXPECT_ERROR("its fan stopped", all->step([&](int replica) {
    if (replica == 1) throw Error("its fan stopped");
    all->communicator(0).barrier();
  }));
  EXPECT_ERROR_OF(PeerLost, HasSubstr("the replica on cpu:1 failed: its fan stopped"), all->communicator(0).barrier());
}

TEST_F(ReplicasTest, MistakesAreNamed) {
  EXPECT_ERROR("a strategy needs at least one device", replicas(0));
  EXPECT_ERROR(HasSubstr("cpu:4"), replicas(9));
  EXPECT_ERROR(HasSubstr("cpu:0 is given twice"), replicas(1, {.devices = {cpu(0)}}));
  EXPECT_ERROR("shares: one for each of the 2 devices is needed, got 1", replicas(2, {.devices = {}, .shares = {1}}));
  EXPECT_ERROR("shares: numbers above 0 are needed, got 0", replicas(2, {.devices = {}, .shares = {1, 0}}));
  EXPECT_ERROR("delays: seconds an example from 0 to 60 are needed, got -1",
               replicas(2, {.devices = {}, .delays = {Seconds(0), Seconds(-1)}}));
  const auto model = std::make_shared<Model>(
      "split", std::vector{make_layer("Dense", {{"units", std::int64_t{4}}, {"input_shape", Shape{4}}}),
                           make_layer("Dense", {{"units", std::int64_t{3}}}, cpu(1))});
  EXPECT_ERROR(HasSubstr("a replica has one device: 'y' is on cpu:1"), train(config("sgd", replicas(2)), 32, model));
}

}  // namespace
}  // namespace gpubench
