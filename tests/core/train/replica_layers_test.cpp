// Layers that look at more than a row: replicas draw, and normalize if they are told to, as one device with the whole
// batch does.
#include "tests/core/train/replica_layers.h"

#include <gmock/gmock.h>

#include "core/nn/architecture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::dense;
using support::flat;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

std::vector<LayerPtr> dropped(double rate = 0.4) {
  const LayerPtr twice = make_layer("Dropout", {{"rate", rate}});
  return {dense(9, "tanh", {4}), twice, dense(5, "tanh"), twice, dense(3, "softmax")};
}

TEST_F(ReplicaLayers, DropWhatOneDeviceDrops) {
  for (const std::int64_t last : {32, 31, 2}) {
    const std::vector<float> alone = train(dropped(), config(nullptr), last);
    EXPECT_THAT(train(dropped(0), config(nullptr), last), Not(Pointwise(::testing::FloatNear(1e-3F), alone)));
    for (const int count : {1, 2, 3}) {
      EXPECT_THAT(train(dropped(), config(replicas(count)), last), Pointwise(::testing::FloatNear(2e-6F), alone))
          << count << " replicas, last batch of " << last;
    }
    EXPECT_THAT(train(dropped(), config(replicas(2, {3, 1})), last), Pointwise(::testing::FloatNear(2e-6F), alone));
  }
}

TEST_F(ReplicaLayers, DropTheSameInEagerExecutionInPartsAndRecomputed) {
  const std::vector<float> alone = train(dropped(), config(nullptr));
  CompileConfig eager = config(replicas(2));
  eager.executor.execution = Execution::eager;
  EXPECT_THAT(train(dropped(), std::move(eager)), Pointwise(::testing::FloatNear(2e-6F), alone));
  CompileConfig in_parts = config(replicas(2));
  in_parts.gradient_accumulation_steps = 4;
  EXPECT_THAT(train(dropped(), std::move(in_parts)), Pointwise(::testing::FloatNear(2e-6F), alone));
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"dropout", "dense_1"};
  EXPECT_THAT(train(dropped(), std::move(recomputed)), Pointwise(::testing::FloatNear(2e-6F), alone));
}

std::vector<LayerPtr> dropped_states(double rate = 0.3) {
  const ConfigEntries sequence{
      {"units", std::int64_t{5}}, {"dropout", rate}, {"recurrent_dropout", rate}, {"return_sequences", true}};
  const std::string gru =
      layer_to_text(*make_layer("GRU", {{"units", std::int64_t{3}}, {"dropout", rate}, {"recurrent_dropout", rate}}));
  return {make_layer("Reshape", {{"target_shape", Shape{2, 2}}, {"input_shape", Shape{4}}}),
          make_layer("LSTM", sequence), make_layer("Bidirectional", {{"layer", gru}}), dense(3, "softmax")};
}

TEST_F(ReplicaLayers, DropTheStatesThatOneDeviceDrops) {
  const std::vector<float> alone = train(dropped_states(), config(nullptr), 31);
  EXPECT_THAT(train(dropped_states(0), config(nullptr), 31), Not(Pointwise(::testing::FloatNear(1e-3F), alone)));
  for (const int count : {2, 3}) {
    EXPECT_THAT(train(dropped_states(), config(replicas(count)), 31), Pointwise(::testing::FloatNear(2e-6F), alone));
  }
  CompileConfig in_parts = config(replicas(2));
  in_parts.gradient_accumulation_steps = 4;
  EXPECT_THAT(train(dropped_states(), std::move(in_parts)),
              Pointwise(::testing::FloatNear(2e-6F), train(dropped_states(), config(nullptr))));
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"lstm"};
  EXPECT_THAT(train(dropped_states(), std::move(recomputed), 31), Pointwise(::testing::FloatNear(2e-6F), alone));
}

std::vector<LayerPtr> normalized(bool synchronized, const ConfigEntries& also = {}) {
  ConfigEntries options{{"synchronized", synchronized}, {"momentum", 0.8}};
  options.insert(options.end(), also.begin(), also.end());
  ConfigEntries first = options;
  first.emplace_back("input_shape", Shape{4});
  return {make_layer("BatchNormalization", first), dense(8, "tanh"), make_layer("BatchNormalization", options),
          dense(3, "softmax")};
}

TEST_F(ReplicaLayers, NormalizeByTheWholeBatch) {
  for (const std::int64_t last : {32, 31, 5, 3}) {
    const std::vector<float> alone = train(normalized(false), config(nullptr), last);
    EXPECT_EQ(train(normalized(true), config(nullptr), last), alone);
    for (const int count : {1, 2, 3}) {
      EXPECT_THAT(train(normalized(true), config(replicas(count)), last), Pointwise(::testing::FloatNear(2e-5F), alone))
          << count << " replicas, last batch of " << last;
    }
    if (last < 6) continue;
    EXPECT_THAT(train(normalized(true), config(replicas(2, {5, 1})), last),
                Pointwise(::testing::FloatNear(2e-5F), alone));
    EXPECT_THAT(train(normalized(false), config(replicas(2)), last),
                Not(Pointwise(::testing::FloatNear(1e-3F), alone)));
  }
}

TEST_F(ReplicaLayers, NormalizeFarFromZero) {
  // Squares of these would leave nothing of a variance of 0.04 in float32.
  const std::vector<float> alone = train(normalized(false), config(nullptr), 31, 3000);
  EXPECT_THAT(train(normalized(true), config(replicas(3)), 31, 3000), Pointwise(::testing::FloatNear(2e-3F), alone));
}

TEST_F(ReplicaLayers, NormalizeImages) {
  const auto layers = [](bool synchronized) {
    return std::vector{
        make_layer("Reshape", {{"target_shape", Shape{2, 2, 1}}, {"input_shape", Shape{4}}}),
        make_layer("Conv2D",
                   {{"filters", std::int64_t{5}}, {"kernel_size", std::int64_t{2}}, {"padding", std::string("same")}}),
        make_layer("BatchNormalization", {{"synchronized", synchronized}}), make_layer("Flatten"), dense(3, "softmax")};
  };
  const std::vector<float> alone = train(layers(false), config(nullptr), 7);
  EXPECT_THAT(train(layers(true), config(replicas(2)), 7), Pointwise(::testing::FloatNear(2e-5F), alone));
}

TEST_F(ReplicaLayers, NormalizeIn16BitsEagerlyAndRecomputed) {
  for (const char* policy : {"mixed_bfloat16", "mixed_float16"}) {
    const ConfigEntries mixed{{"dtype", std::string(policy)}};
    const std::vector<float> alone = train(normalized(false, mixed), config(nullptr), 31);
    EXPECT_THAT(train(normalized(true, mixed), config(replicas(2)), 31), Pointwise(::testing::FloatNear(2e-2F), alone))
        << policy;
  }
  const std::vector<float> alone = train(normalized(false), config(nullptr));
  CompileConfig eager = config(replicas(2));
  eager.executor.execution = Execution::eager;
  EXPECT_THAT(train(normalized(true), std::move(eager)), Pointwise(::testing::FloatNear(2e-5F), alone));
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"batch_normalization_1"};
  EXPECT_THAT(train(normalized(true), std::move(recomputed)), Pointwise(::testing::FloatNear(2e-5F), alone));
}

TEST_F(ReplicaLayers, FrozenNormalizationExchangesNothing) {
  const ReplicasPtr all = replicas(2);
  const auto frozen = [](bool synchronized) { return normalized(synchronized, {{"trainable", false}}); };
  const std::vector<float> alone = train(frozen(false), config(nullptr));
  EXPECT_THAT(train(frozen(true), config(all)), Pointwise(::testing::FloatNear(2e-6F), alone));
  EXPECT_EQ(all->communicator(0).times().collectives, 6);  // a bucket a step
}

TEST_F(ReplicaLayers, NormalizingTogetherNeedsAnExampleEach) {
  EXPECT_ERROR(HasSubstr("so small a batch leaves a replica without examples; leave it out by "
                         "dataset:batch(size, { drop_remainder = true })"),
               train(normalized(true), config(replicas(3)), 2));
}

class ReplicaRanges : public ReplicaLayers {
 protected:
  struct Trained {
    std::vector<float> ranges, weights;
  };
  /// Of layers that round as int8 would: points of one replica's rows are ten times as large.
  Trained train_rounded(CompileConfig config, std::int64_t last = 32, bool synchronized = false) {
    const auto aware = [](std::int64_t units, const char* activation, const Shape& input_shape) {
      return make_layer("Dense", {{"units", units},
                                  {"activation", std::string(activation)},
                                  {"input_shape", input_shape},
                                  {"quantization", std::string("aware")}});
    };
    std::vector<LayerPtr> layers{aware(8, "tanh", {4}), aware(3, "softmax", {})};
    if (synchronized) layers.insert(layers.begin() + 1, make_layer("BatchNormalization", {{"synchronized", true}}));
    const auto model = std::make_shared<Model>("rounded", layers);
    Blobs blobs(64 + last);
    for (std::size_t row = 0; row < 64; row += 32) {
      for (std::size_t i = 0; i < 16; ++i) blobs.points.values<float>()[4 * row + i] *= 10;
    }
    seed = 3;
    Trainer trained(runtime, factory, model, std::move(config));
    fit(trained, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 2});
    Trained result{.ranges = {}, .weights = flat(trained.weights())};
    for (const VariablePtr& variable : model->variables()) {
      if (!variable->name.ends_with("/input_range")) continue;
      result.ranges.push_back(runtime.variables().read(*variable).values<float>()[0]);
    }
    return result;
  }
};

TEST_F(ReplicaRanges, AreThoseOfTheWholeBatch) {
  for (const std::int64_t last : {32, 31, 2}) {  // of 2 examples one of 3 replicas has none
    const Trained alone = train_rounded(config(nullptr), last);
    ASSERT_EQ(alone.ranges.size(), 2U);
    EXPECT_GT(alone.ranges[0], 8);
    for (const int count : {1, 2, 3}) {
      const Trained together = train_rounded(config(replicas(count)), last);
      EXPECT_NEAR(together.ranges[0], alone.ranges[0], 1e-5) << count << " replicas, last batch of " << last;
      EXPECT_NEAR(together.ranges[1], alone.ranges[1], 1e-4);
      // A sum in another order may be rounded to the next of the 255 steps.
      EXPECT_THAT(together.weights, Pointwise(::testing::FloatNear(2e-3F), alone.weights));
    }
    EXPECT_NEAR(train_rounded(config(replicas(2, {3, 1})), last).ranges[0], alone.ranges[0], 1e-5);
  }
}

TEST_F(ReplicaRanges, AreTheSameInEagerExecutionAndRecomputed) {
  const Trained alone = train_rounded(config(nullptr));
  CompileConfig eager = config(replicas(2));
  eager.executor.execution = Execution::eager;
  EXPECT_NEAR(train_rounded(std::move(eager)).ranges[0], alone.ranges[0], 1e-5);
  CompileConfig recomputed = config(replicas(2));
  recomputed.recompute = {"dense_1"};
  const Trained again = train_rounded(std::move(recomputed));
  EXPECT_NEAR(again.ranges[0], alone.ranges[0], 1e-5);
  EXPECT_THAT(again.weights, Pointwise(::testing::FloatNear(2e-3F), alone.weights));
}

TEST_F(ReplicaRanges, ExchangesOfABackwardPassStillNeedAnExampleEach) {
  EXPECT_ERROR(HasSubstr("so small a batch leaves a replica without examples"),
               train_rounded(config(replicas(3)), 2, true));
}

}  // namespace
}  // namespace gpubench
