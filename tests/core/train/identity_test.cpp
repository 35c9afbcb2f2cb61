// Layers are told apart by what they are: names may begin alike, or look like the labels that other nodes have.
#include <gmock/gmock.h>

#include "core/train/compress/pruning.h"
#include "core/train/compress/quantization.h"
#include "core/train/step_memory.h"
#include "tests/core/train/fixture.h"
#include "tests/support/device_configs.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using ::testing::ElementsAre;
using ::testing::Pointwise;
using ::testing::UnorderedElementsAre;

const DeviceId second_cpu{DeviceId::Kind::cpu, 1, {}};

LayerPtr named_dense(const char* name, std::int64_t units, const DeviceId& device = {}, Shape input_shape = {}) {
  return make_layer("Dense",
                    {{"name", std::string(name)},
                     {"units", units},
                     {"activation", std::string("tanh")},
                     {"input_shape", std::move(input_shape)}},
                    device);
}

ModelPtr chain_named(const std::vector<const char*>& names, const DeviceId& device = {}) {
  std::vector<LayerPtr> layers;
  for (const char* name : names) layers.push_back(named_dense(name, 32, device, layers.empty() ? Shape{4} : Shape{}));
  layers.push_back(named_dense("out", 3, device));
  return std::make_shared<Model>("named", layers);
}

std::vector<TensorType> named_batch(std::int64_t size) {
  return {{{size, 4}, Dtype::f32}, {{size, 3}, Dtype::f32}};
}

class Identity : public ::testing::Test {
 protected:
  Trainer trainer(ModelPtr model, CompileConfig config) {
    return {runtime, factory, std::move(model), std::move(config)};
  }
  static CompileConfig config() {
    return {make_optimizer("adam"), {make_loss("mean_squared_error")}, {make_metric("accuracy")}, {}};
  }
  std::size_t bytes(const ModelPtr& model, const CompileConfig& config) {
    Trainer model_trainer = trainer(model, config);
    return total(predict_training_memory(model_trainer, named_batch(4096)));
  }
  /// Bytes that the layers of these names hold of one kind.
  std::map<std::string, std::size_t> held(const ModelPtr& model, MemoryKind kind) {
    Trainer model_trainer = trainer(model, config());
    std::map<std::string, std::size_t> by_name;
    for (const DeviceMemory& memory : predict_training_memory(model_trainer, named_batch(4096))) {
      for (const MemoryHolder& holder : memory.at_peak) {
        if (holder.kind == kind) by_name[holder.layer] += holder.bytes;
      }
    }
    return by_name;
  }
  std::vector<float> train(const ModelPtr& model, CompileConfig config) {
    const Blobs blobs(128);
    Trainer trained = trainer(model, std::move(config));
    fit(trained, *batches_of({blobs.points, blobs.one_hot}, 32), {});
    return flat(trained.weights());
  }

  Devices devices{support::cpu_devices({{.threads = 1}, {.threads = 1}})};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
};

TEST_F(Identity, RecomputingALayerLeavesThoseWhoseNamesBeginAlike) {
  const auto dropping = [&](const std::vector<const char*>& names, std::vector<std::string> dropped) {
    CompileConfig some = config();
    some.recompute = std::move(dropped);
    return bytes(chain_named(names), some);
  };
  EXPECT_EQ(dropping({"a", "a/b", "c"}, {"a"}), dropping({"a", "b", "c"}, {"a"}));
}

TEST_F(Identity, ABudgetCountsEachLayerOnce) {
  const auto chosen = [&](const std::vector<const char*>& names) {
    CompileConfig budget = config();
    budget.recompute_budget = bytes(chain_named(names), config()) * 4 / 5;
    Trainer chooser = trainer(chain_named(names), budget);
    predict_training_memory(chooser, named_batch(4096));
    return chooser.planner().recomputed_within(named_batch(4096)).recompute.size();
  };
  EXPECT_EQ(chosen({"x", "x/gradient_head", "x/gradient", "y", "y/recomputed", "z", "z/a", "z/b", "w"}),
            chosen({"a", "b", "c", "d", "e", "f", "g", "h", "i"}));
}

TEST_F(Identity, OffloadTakesLayersNamedLikeGradients) {
  const auto offloaded = [&](const std::vector<const char*>& names, std::vector<std::string> layers) {
    CompileConfig away = config();
    away.offload.all = layers.empty();
    away.offload.layers = std::move(layers);
    Trainer model = trainer(chain_named(names, second_cpu), away);
    return predict_training_memory(model, named_batch(4096)).at(0).offloaded;
  };
  const std::size_t all = offloaded({"a", "b", "c", "d"}, {});
  EXPECT_GT(all, 0U);
  EXPECT_EQ(offloaded({"x", "x/gradient_head", "x/recomputed", "y/gradient"}, {}), all);
  EXPECT_EQ(offloaded({"a", "a/b", "c", "d"}, {"a"}), offloaded({"a", "b", "c", "d"}, {"a"}));
}

TEST_F(Identity, OddNamesChangeNoWeight) {
  const auto weights = [&](const std::vector<const char*>& names, const CompileConfig& config) {
    seed = 3;
    return train(chain_named(names, second_cpu), config);
  };
  const std::vector<float> plain = weights({"a", "b", "c"}, config());
  CompileConfig away = config(), again = config();
  away.offload.all = true;
  again.recompute = {"x", "x/recomputed"};
  EXPECT_EQ(weights({"x", "x/gradient_head", "x/recomputed"}, away), plain);
  EXPECT_THAT(weights({"x", "x/gradient_head", "x/recomputed"}, again), Pointwise(::testing::FloatNear(1e-6F), plain));
}

TEST_F(Identity, TheMemoryTableHasARowForEachLayer) {
  const std::vector<const char*> plain = {"a", "b", "c"}, block = {"block1/in", "block1/conv", "block1/dense"};
  for (const MemoryKind kind : {MemoryKind::variables, MemoryKind::optimizer}) {
    const auto expected = held(chain_named(plain), kind), rows = held(chain_named(block), kind);
    EXPECT_EQ(rows.size(), expected.size());
    EXPECT_EQ(rows.at("block1/conv"), expected.at("b"));
    EXPECT_EQ(rows.at("block1/dense"), expected.at("c"));
    EXPECT_FALSE(rows.contains("block1"));
  }
  EXPECT_TRUE(held(chain_named(block), MemoryKind::optimizer).contains("adam")) << "the step counter";
  EXPECT_TRUE(held(chain_named(block), MemoryKind::variables).contains("metrics"));
}

TEST_F(Identity, PruningAndQuantizationFindLayersByTheirWholeNames) {
  const ModelPtr model = chain_named({"a", "a/kernel", "a/kernel/kernel"});
  Trainer built = trainer(model, config());
  built.build(named_batch(8));
  const ModelPtr aware = quantization_aware(runtime, factory, *model, {"a/kernel"});
  std::vector<std::string> quantized;
  for (const LayerPtr& layer : aware->layers()) {
    for (const VariablePtr& variable : layer->variables()) {
      if (variable->name.ends_with("input_range")) quantized.push_back(layer->name());
    }
  }
  EXPECT_THAT(quantized, ElementsAre("a/kernel"));
  const auto pruning =
      std::make_shared<MagnitudePruning>(runtime, model, SparsitySchedule{}, std::vector<std::string>{"a/kernel"});
  const auto zeros = [&] {
    std::vector<std::string> names;
    runtime.synchronize();
    for (const VariablePtr& variable : model->variables()) {
      if (variable->type.rank() < 2) continue;
      const HostTensor kernel = runtime.variables().read(*variable);
      if (std::ranges::count(kernel.values<float>(), 0.0F) > 0) names.push_back(variable->name);
    }
    return names;
  };
  EXPECT_THAT(zeros(), ElementsAre());
  const Blobs blobs(64);
  FitOptions options;
  options.callbacks = {pruning};
  Trainer trained = trainer(model, config());
  fit(trained, *batches_of({blobs.points, blobs.one_hot}, 32), options);
  EXPECT_THAT(zeros(), UnorderedElementsAre("a/kernel/kernel"));
}

}  // namespace
}  // namespace gpubench
