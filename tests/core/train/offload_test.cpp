// Activations that wait in the host's memory: the same weights to the bit, in less memory of the device.
#include <gmock/gmock.h>

#include "core/device/device.h"
#include "core/train/step_memory.h"
#include "tests/core/train/fixture.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::Blobs;
using support::flat;
using ::testing::HasSubstr;

const DeviceId host{}, apart{DeviceId::Kind::cpu, 1, {}};

class Offload : public ::testing::Test {
 protected:
  static LayerPtr layer(const char* kind, const ConfigEntries& options, const DeviceId& device) {
    return make_layer(kind, options, device);
  }
  static LayerPtr dense(const DeviceId& device, std::int64_t units, const char* activation, Shape input_shape = {}) {
    return layer("Dense",
                 {{"units", units}, {"activation", std::string(activation)}, {"input_shape", std::move(input_shape)}},
                 device);
  }
  /// 4 -> 32 -> ... -> 32 -> 3, with what draws and what keeps statistics in between.
  static ModelPtr deep(int layers, bool noisy, const DeviceId& device = apart) {
    std::vector<LayerPtr> chain;
    for (int i = 0; i < layers; ++i) {
      chain.push_back(dense(device, 32, i % 2 == 0 ? "gelu" : "relu", i == 0 ? Shape{4} : Shape{}));
      if (noisy && i % 3 == 0) chain.push_back(layer("BatchNormalization", {}, device));
      if (noisy && i % 3 == 1) chain.push_back(layer("Dropout", {{"rate", 0.2}}, device));
    }
    chain.push_back(dense(device, 3, "softmax"));
    return std::make_shared<Model>("deep", chain);
  }
  static CompileConfig config(bool all = false) {
    CompileConfig config{make_optimizer("adam"), {make_loss("categorical_crossentropy")}, {}, {}};
    config.offload.all = all;
    return config;
  }
  Trainer trainer(ModelPtr model, CompileConfig config) {
    return {runtime, factory, std::move(model), std::move(config)};
  }
  std::vector<float> train(CompileConfig config) {
    seed = 3;
    const Blobs blobs(128);
    Trainer model = trainer(deep(6, true), std::move(config));
    fit(model, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 2});
    return flat(model.weights());
  }
  static std::vector<TensorType> batch_of(std::int64_t size) {
    return {{{size, 4}, Dtype::f32}, {{size, 3}, Dtype::f32}};
  }

  Devices devices{support::cpu_devices({{.threads = 1}, {.threads = 1}})};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
};

TEST_F(Offload, GivesTheSameWeightsToTheBit) {
  EXPECT_EQ(train(config(true)), train(config()));
  CompileConfig some = config();
  some.offload.layers = {"dense", "batch_normalization", "dropout", "dense_2"};
  EXPECT_EQ(train(some), train(config()));
}

TEST_F(Offload, GoesWithAccumulationAndRecomputation) {
  for (const bool recomputed : {false, true}) {
    CompileConfig kept = config(), away = config(true);
    kept.gradient_accumulation_steps = away.gradient_accumulation_steps = recomputed ? 1 : 4;
    if (recomputed) kept.recompute = away.recompute = {"dense_1", "dense_3", "dropout"};
    EXPECT_EQ(train(std::move(away)), train(std::move(kept)));
  }
}

TEST_F(Offload, TakesLessOfTheDeviceAndNamesWhatItTakesOfTheHost) {
  Trainer whole = trainer(deep(20, false), config()), less = trainer(deep(20, false), config(true));
  const auto before = predict_training_memory(whole, batch_of(4096));
  const auto after = predict_training_memory(less, batch_of(4096));
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(before[0].offloaded, 0U);
  EXPECT_LT(after[0].bytes_of(MemoryKind::activations), before[0].bytes_of(MemoryKind::activations) / 3);
  // What left the device is on the host, but for what gradients need at the time.
  EXPECT_GE(after[0].offloaded + after[0].lower_bound, before[0].lower_bound);
}

TEST_F(Offload, TakesWhatWasPredicted) {
  Trainer model = trainer(deep(8, false), config(true));
  const Blobs blobs(4096);
  const auto predicted = predict_training_memory(model, batch_of(4096));
  const std::size_t host_before = devices.device(host).memory().use().in_use;
  fit(model, *batches_of({blobs.points, blobs.one_hot}, 4096), {});
  EXPECT_EQ(total(training_memory(model)), total(predicted));
  EXPECT_NEAR(static_cast<double>(devices.device(apart).memory().use().in_use), static_cast<double>(total(predicted)),
              0.02 * static_cast<double>(total(predicted)));
  EXPECT_EQ(devices.device(host).memory().use().in_use - host_before, predicted[0].offloaded);
  EXPECT_GT(predicted[0].offloaded, 0U);
  EXPECT_GT(devices.device(apart).copy_time()->count(), 0.0);
  model.release_plans();
  EXPECT_EQ(devices.device(host).memory().use().in_use, host_before);
}

TEST_F(Offload, SaysWhatCannotBe) {
  const auto refused = [&](ModelPtr model, CompileConfig config, const std::string& why) {
    Trainer trained = trainer(std::move(model), std::move(config));
    EXPECT_ERROR(HasSubstr(why), predict_training_memory(trained, batch_of(64)));
  };
  refused(
      deep(2, false, host), config(true),
      "model 'deep': offload moves activations from a device to the host's memory, and all its layers are on cpu:0, "
      "which is the host; place it on a GPU or on another logical CPU device");
  CompileConfig named = config();
  named.offload.layers = {"dense_1"};
  refused(deep(2, false, host), named, "and layer 'dense_1' is on cpu:0, which is the host");
  named.recompute = {"dense_1"};
  refused(deep(2, false), named, "model 'deep': layer 'dense_1' is in recompute and in offload");
  named.offload.layers = {"conv"};
  refused(deep(2, false), named, "there is no layer 'conv' to offload (layers: dense, dense_1, dense_2)");
  CompileConfig eager = config(true);
  eager.executor.execution = Execution::eager;
  const Blobs blobs(32);
  Trainer model = trainer(deep(2, false), eager);
  EXPECT_ERROR(HasSubstr("eager execution keeps every activation where it is"),
               fit(model, *batches_of({blobs.points, blobs.one_hot}, 32), {}));
}

}  // namespace
}  // namespace gpubench
