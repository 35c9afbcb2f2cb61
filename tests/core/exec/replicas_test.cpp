#include "core/exec/replicas.h"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/device/device.h"
#include "tests/support/device_configs.h"
#include "tests/support/own_processors.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

/// Two devices on a machine that has a memory node for each of its first two processors.
class ReplicasOnNodes : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<int>& usable = process_processors();
    if (!std::ranges::includes(usable, std::vector{0, 1})) GTEST_SKIP() << "needs the processors 0 and 1";
    setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
  }
  void TearDown() override { unsetenv("HWLOC_SYNTHETIC"); }

  static DeviceConfig config(int first, int second) {
    return support::without_gpus(support::cpu_devices({{.threads = first}, {.threads = second}}));
  }
  static std::vector<std::vector<int>> processors_in_steps(const Devices& devices) {
    Runtime first(devices);
    Replicas replicas(first, {.devices = devices.ids()}, nullptr);
    std::vector<std::vector<int>> own(2), later(2);
    replicas.step([&](int replica) { own[static_cast<std::size_t>(replica)] = support::own_processors(); });
    replicas.each([&](int replica) { later[static_cast<std::size_t>(replica)] = support::own_processors(); });
    EXPECT_EQ(own, later);
    return own;
  }
};

TEST_F(ReplicasOnNodes, StepOnTheirsAndTheScriptsThreadGoesOnAnywhere) {
  const Devices devices(config(1, 1));
  EXPECT_THAT(devices.device({DeviceId::Kind::cpu, 0, ""}).description(), testing::EndsWith(", on memory node 0"));
  EXPECT_THAT(devices.device({DeviceId::Kind::cpu, 1, ""}).description(), testing::EndsWith(", on memory node 1"));
  EXPECT_THAT(processors_in_steps(devices), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_EQ(support::own_processors(), process_processors());
}

TEST_F(ReplicasOnNodes, ThatNeedMoreProcessorsThanOneHasStayUnbound) {
  const Devices devices(config(2, 1));
  EXPECT_EQ(devices.device({DeviceId::Kind::cpu, 0, ""}).memory_node(), nullptr);
  EXPECT_THAT(processors_in_steps(devices), ElementsAre(process_processors(), ElementsAre(1)));
}

TEST_F(ReplicasOnNodes, WithOneDeviceNothingIsBound) {
  DeviceConfig one = config(1, 1);
  one[DeviceId::Kind::cpu].devices->pop_back();
  EXPECT_EQ(Devices(one).device({DeviceId::Kind::cpu, 0, ""}).memory_node(), nullptr);
}

TEST_F(ReplicasOnNodes, OnOneNodeNothingIsBound) {
  setenv("HWLOC_SYNTHETIC", "numa:1 core:2 pu:1", 1);
  const Devices devices(config(1, 1));
  EXPECT_EQ(devices.device({DeviceId::Kind::cpu, 0, ""}).memory_node(), nullptr);
  EXPECT_THAT(processors_in_steps(devices), ElementsAre(process_processors(), process_processors()));
}

}  // namespace
}  // namespace gpubench
