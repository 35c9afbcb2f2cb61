// Activations that are computed again instead of being kept: the same weights, in less memory.
#include <gmock/gmock.h>

#include "core/train/recompute_choice.h"
#include "core/train/step_memory.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class Recompute : public support::TrainTest {
 protected:
  /// 4 -> 32 -> ... -> 32 -> 3, with what draws and what keeps statistics in between.
  static ModelPtr deep(int layers, bool noisy) {
    std::vector<LayerPtr> chain;
    for (int i = 0; i < layers; ++i) {
      chain.push_back(support::dense(32, "tanh", i == 0 ? Shape{4} : Shape{}));
      if (noisy && i % 3 == 0) chain.push_back(make_layer("BatchNormalization"));
      if (noisy && i % 3 == 1) chain.push_back(make_layer("Dropout", {{"rate", 0.2}}));
    }
    chain.push_back(support::dense(3, "softmax"));
    return std::make_shared<Model>("deep", chain);
  }

  CompileConfig recomputing(std::vector<std::string> layers) {
    CompileConfig config = classifier();
    config.optimizer = make_optimizer("sgd", {{"learning_rate", 0.1}});
    config.recompute = std::move(layers);
    return config;
  }

  std::vector<float> train(CompileConfig config) {
    seed = 3;
    const Blobs blobs(128);
    Trainer model = trainer(deep(6, true), std::move(config));
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 32), {});
    return flat(model.weights());
  }

  static std::vector<TensorType> batch_of(std::int64_t size) {
    return {{{size, 4}, Dtype::f32}, {{size, 3}, Dtype::f32}};
  }
};

TEST_F(Recompute, GivesTheSameWeights) {
  const std::vector<float> kept = train(recomputing({}));
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    CompileConfig some = recomputing({"dense", "batch_normalization", "dense_1", "dropout", "dense_3", "dense_5"});
    some.executor.execution = execution;
    EXPECT_THAT(train(std::move(some)), Pointwise(::testing::FloatNear(1e-6F), kept));
  }
  CompileConfig in_parts = recomputing({"dense", "dropout", "dense_2"}), in_parts_kept = recomputing({});
  in_parts.gradient_accumulation_steps = in_parts_kept.gradient_accumulation_steps = 4;
  // Random layers draw by their place in the graph, which does not change with what is recomputed.
  EXPECT_THAT(train(std::move(in_parts)), Pointwise(::testing::FloatNear(1e-6F), train(std::move(in_parts_kept))));
}

TEST_F(Recompute, EveryFourthLayerKeptHalvesTheActivations) {
  Trainer whole = trainer(deep(20, false), recomputing({}));
  std::vector<std::string> dropped;
  for (int i = 0; i < 20; ++i) {
    if (i % 4 != 3) dropped.push_back(i == 0 ? "dense" : "dense_" + std::to_string(i));
  }
  Trainer less = trainer(deep(20, false), recomputing(dropped));
  const auto activations = [](Trainer& model) {
    return static_cast<double>(predict_training_memory(model, batch_of(4096))[0].bytes_of(MemoryKind::activations));
  };
  EXPECT_LT(activations(less), 0.5 * activations(whole));
}

TEST_F(Recompute, ABudgetChoosesTheLayers) {
  Trainer whole = trainer(deep(20, false), recomputing({}));
  const std::size_t all = total(predict_training_memory(whole, batch_of(4096)));
  CompileConfig config = recomputing({});
  config.recompute_budget = all / 2;
  Trainer half = trainer(deep(20, false), config);
  EXPECT_LE(total(predict_training_memory(half, batch_of(4096))), all / 2);
  EXPECT_FALSE(half.planner().recomputed_within(batch_of(4096)).recompute.empty());
  config.recompute_budget = all * 3 / 4;
  Trainer most = trainer(deep(20, false), config);
  predict_training_memory(most, batch_of(4096));
  EXPECT_LT(most.planner().recomputed_within(batch_of(4096)).recompute.size(),
            half.planner().recomputed_within(batch_of(4096)).recompute.size())
      << "no more than the budget asks for";
  config.recompute_budget = all;
  Trainer enough = trainer(deep(20, false), config);
  predict_training_memory(enough, batch_of(4096));
  EXPECT_TRUE(enough.planner().recomputed_within(batch_of(4096)).recompute.empty());
}

TEST(RecomputeChoice, TakesWhatSavesMostForItsFlops) {
  // What is saved is what the layers hold.
  const std::vector<LayerWork> layers = {{"a", 100, 10}, {"b", 1, 10}, {"c", 100, 40}, {"d", 2, 10}, {"e", 0, 0}};
  const auto plan = [&](const std::vector<std::string>& names) {
    RecomputePlan planned{.bytes = 100};
    for (const LayerWork& layer : layers) {
      if (std::ranges::find(names, layer.name) == names.end()) continue;
      planned.bytes -= layer.bytes;
      planned.flops += layer.flops;
    }
    return planned;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(choose_recomputed(layers, 90, plan).layers, ElementsAre("b"));
  EXPECT_THAT(choose_recomputed(layers, 80, plan).layers, ElementsAre("b", "d"));
  EXPECT_THAT(choose_recomputed(layers, 60, plan).layers, ElementsAre("c"));
  EXPECT_THAT(choose_recomputed(layers, 50, plan).layers, ElementsAre("b", "c"));
  const RecomputeChoice none = choose_recomputed(layers, 20, plan);
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.least_bytes, 30U);
}

TEST_F(Recompute, ABudgetSparesTheDearLayers) {
  // A wide layer costs much and saves little beside the narrow ones' many activations.
  std::vector<LayerPtr> chain{support::dense(64, "tanh", {4}), support::dense(256, "tanh"), support::dense(64, "tanh")};
  for (int i = 0; i < 12; ++i) chain.push_back(make_layer("Activation", {{"activation", std::string("tanh")}}));
  chain.push_back(support::dense(3, "softmax"));
  const auto model = std::make_shared<Model>("uneven", chain);
  Trainer whole = trainer(model, recomputing({}));
  const std::size_t all = total(predict_training_memory(whole, batch_of(4096)));
  CompileConfig config = recomputing({});
  config.recompute_budget = all - (std::size_t{2} << 20);
  Trainer less = trainer(model, config);
  EXPECT_LE(total(predict_training_memory(less, batch_of(4096))), config.recompute_budget);
  const std::vector<std::string> chosen = less.planner().recomputed_within(batch_of(4096)).recompute;
  EXPECT_FALSE(chosen.empty());
  for (const std::string& name : chosen) EXPECT_THAT(name, ::testing::StartsWith("activation"));
}

TEST_F(Recompute, SaysWhatCannotBe) {
  Trainer unknown = trainer(deep(2, false), recomputing({"conv"}));
  EXPECT_ERROR("model 'deep': there is no layer 'conv' to recompute (layers: dense, dense_1, dense_2)",
               predict_training_memory(unknown, batch_of(64)));
  CompileConfig config = recomputing({});
  config.recompute_budget = 1024;
  Trainer small = trainer(deep(4, false), std::move(config));
  EXPECT_ERROR(
      HasSubstr(
          "model 'deep': no choice of layers to recompute brings a training step within recompute_budget = 1 KiB; the "
          "least that was found is "),
      predict_training_memory(small, batch_of(4096)));
}

}  // namespace
}  // namespace gpubench
