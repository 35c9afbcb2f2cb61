#include "core/backend/registry/devices.h"

#include <gmock/gmock.h>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::cpu_devices;
using support::without_gpus;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

const DeviceId second_cpu{DeviceId::Kind::cpu, 1, {}}, first_gpu{DeviceId::Kind::gpu, 0, {}};

TEST(Devices, KindsAreListedWithProcessorsLast) {
  EXPECT_THAT(device_kinds(), ElementsAre(DeviceId::Kind::gpu, DeviceId::Kind::cpu, DeviceId::Kind::emulated));
  EXPECT_EQ(physical_devices(DeviceId::Kind::cpu).size(), 1U);
  EXPECT_THAT(physical_devices(DeviceId::Kind::emulated), IsEmpty()) << "they are made when they are named";
}

TEST(Devices, AnUnknownDeviceIsRefusedWithThoseThatAreThere) {
  const Devices devices(without_gpus(cpu_devices({{}, {}})));
  EXPECT_THAT(devices.ids(), ElementsAre(DeviceId{}, second_cpu));
  EXPECT_EQ(devices.default_device(), DeviceId{});
  EXPECT_ERROR("there is no device gpu:0; there is cpu:0, cpu:1: " + to_string(devices.absence(DeviceId::Kind::gpu)),
               devices.device(first_gpu));
  EXPECT_TRUE(devices.absence(DeviceId::Kind::gpu));
  EXPECT_FALSE(devices.absence(DeviceId::Kind::cpu));
  EXPECT_THAT(devices.unusable(DeviceId::Kind::gpu), IsEmpty());
}

TEST(Devices, AnEmulatedDeviceIsThereOnceItIsNamed) {
  const Devices devices(without_gpus(cpu_devices({{}})));
  const DeviceId emulated = parse_device_id("emulated:h200:1");
  EXPECT_THAT(devices.ids(), ElementsAre(DeviceId{}));
  Device& device = devices.device(emulated);
  EXPECT_EQ(&devices.device(emulated), &device);
  EXPECT_EQ(devices.backend(emulated).name(), "emulated");
  EXPECT_THAT(devices.ids(), ElementsAre(DeviceId{}, emulated));
  EXPECT_EQ(devices.default_device(), DeviceId{});
  EXPECT_EQ(&devices.host_side(emulated), device.host_memory());
  EXPECT_ERROR("there is no device emulated:h200:8; there are emulated:h200:0 to emulated:h200:7",
               devices.device(parse_device_id("emulated:h200:8")));
}

TEST(Devices, TheHostHasNoOtherSide) {
  const Devices devices(without_gpus(cpu_devices({{}, {}})));
  EXPECT_EQ(&devices.host_side(second_cpu), &devices.device({}).memory());
  EXPECT_ERROR("cpu:0 is the host itself; it has no other memory to put tensors in", devices.host_side({}));
}

TEST(Devices, ThreadsThatNoDeviceAsksForAreSpreadEvenly) {
  DeviceConfig config = without_gpus(cpu_devices({{.threads = 1}, {}, {}}));
  config[DeviceId::Kind::cpu].own<CpuOptions>().threads = 6;
  const Devices devices(config);
  for (const auto& [index, threads] : {std::pair{0, ", 1 thread"}, {1, ", 2 threads"}, {2, ", 3 threads"}}) {
    const DeviceId id{DeviceId::Kind::cpu, static_cast<std::int16_t>(index), {}};
    EXPECT_THAT(devices.device(id).description(), EndsWith(threads));
  }
}

TEST(BackendConfig, OptionsOfAnotherBackendAreRefused) {
  BackendConfig config{.options = 1};
  EXPECT_THROW(config.own<CpuOptions>(), std::bad_any_cast);
}

}  // namespace
}  // namespace gpubench
