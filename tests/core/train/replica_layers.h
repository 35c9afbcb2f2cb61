// A test that trains the same layers on one device and on replicas.
#pragma once
#include <gtest/gtest.h>
#include <memory>
#include <utility>
#include <vector>

#include "tests/core/train/fixture.h"
#include "tests/support/device_configs.h"

namespace gpubench {

class ReplicaLayers : public ::testing::Test {
 protected:
  ReplicasPtr replicas(int count, std::vector<double> shares = {}) {
    ReplicaOptions options{.devices = {}, .shares = std::move(shares)};
    for (int i = 0; i < count; ++i) {
      options.devices.push_back(DeviceId{DeviceId::Kind::cpu, static_cast<std::int16_t>(i), {}});
    }
    return std::make_shared<Replicas>(runtime, std::move(options), nullptr);
  }

  CompileConfig config(ReplicasPtr with) {
    CompileConfig result{make_optimizer("sgd", {{"learning_rate", 0.1}}),
                         {make_loss("categorical_crossentropy")},
                         {make_metric("accuracy")},
                         {}};
    result.replicas = std::move(with);
    return result;
  }

  /// All weights and statistics after two epochs of a batch of 32, one of 32 and one of `last` examples.
  std::vector<float> train(const std::vector<LayerPtr>& layers, CompileConfig config, std::int64_t last = 32,
                           float offset = 0) {
    support::Blobs blobs(64 + last);
    for (float& value : blobs.points.values<float>()) value += offset;
    seed = 3;
    Trainer trained(runtime, factory, std::make_shared<Model>("layered", layers), std::move(config));
    fit(trained, *batches_of({blobs.points, blobs.one_hot}, 32), {.epochs = 2});
    return support::flat(trained.weights());
  }

  Devices devices{support::cpu_devices(std::vector<LogicalDevice>(3, {.threads = 1}))};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
};

}  // namespace gpubench
