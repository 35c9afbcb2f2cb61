// The context of this process on each GPU: what makes it, what does not, and what happens where it cannot be made.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/backend/registry/devices.h"
#include "core/device/device.h"
#include "core/device/work_order.h"
#include "core/exec/eager.h"
#include "core/experiment/steps/device_watch.h"
#include "core/nvidia/gpu_fault.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const DeviceId gpu{DeviceId::Kind::gpu, 0, {}}, cpu{};

/// GPUs of which the process cannot use some, in exclusive mode.
class CudaContextTest : public testing::Test {
 protected:
  CudaContextTest() {
    cuda_on_cpu::machine().gpus = 4;
    cuda_on_cpu::machine().compute_mode = cudaComputeModeExclusiveProcess;
    cuda_on_cpu::forget_contexts();
  }
  ~CudaContextTest() override { cuda_on_cpu::machine() = before_; }

  static void take(std::set<int> gpus) { cuda_on_cpu::machine().taken = std::move(gpus); }
  static DeviceId id(int index) { return {DeviceId::Kind::gpu, static_cast<std::int16_t>(index), {}}; }
  static std::vector<std::string> reasons(const Devices& devices) {
    std::vector<std::string> reasons;
    for (const DeviceFault& fault : devices.unusable(DeviceId::Kind::gpu)) reasons.push_back(fault.reason);
    return reasons;
  }
  static std::string held(int index) {
    return fmt::format("GPU {} (CUDA on the CPU) cannot be used: it is in exclusive mode, and another process holds it",
                       index);
  }
  /// What the error of a use says behind the reason.
  static std::string remedy(int index) {
    return fmt::format(
        "; end that process (nvidia-smi shows it), or allow several: nvidia-smi -i 00000000:{:02X}:00.0 -c DEFAULT, as "
        "root; gpubench devices lists the devices that can be used",
        index + 1);
  }

 private:
  cuda_on_cpu::Machine before_ = cuda_on_cpu::machine();
};

TEST_F(CudaContextTest, WhatOnlyLooksAtDevicesMakesNone) {
  Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  devices.set_pressure_handler([] {});
  EXPECT_THAT(devices.ids(), ElementsAre(id(0), id(1), id(2), id(3), cpu));
  EXPECT_FALSE(devices.absence(DeviceId::Kind::gpu));
  EXPECT_THAT(reasons(devices), IsEmpty());
  for (const DeviceId& one : devices.ids()) {
    Device& device = devices.device(one);
    EXPECT_NE(device.description(), "");
    EXPECT_FALSE(device.slice());
    EXPECT_NE(devices.backend(one).library(), "");
    device.memory().reset_peak();
    device.memory().trim();
    const MemoryUse use = device.memory().use();
    EXPECT_EQ(use.in_use + use.peak + use.reserved, 0U);
    EXPECT_EQ(device.in_use(), one == cpu);
  }
  DeviceWatch watch(runtime);
  watch.begin();
  watch.end();
  EXPECT_EQ(watch.copy_time(), Seconds{});
  runtime.synchronize();
  runtime.drain();
  EXPECT_NE(devices.new_tracer(), nullptr);
  EXPECT_THAT(cuda_on_cpu::contexts(), IsEmpty());
}

TEST_F(CudaContextTest, EveryUseMakesThatOfItsGpuAlone) {
  const std::vector<std::function<void(Device&)>> uses{
      [](Device& device) { static_cast<void>(device.memory().allocate(1, "use")); },
      [](Device& device) { static_cast<void>(device.host_memory()->allocate(1, "use")); },
      [](Device& device) { device.stream(); },
      [](Device& device) { device.new_stream(); },
      [](Device& device) { device.new_event(); },
      [](Device& device) { device.new_timed_event(); },
      [](Device& device) { device.record({}); },
      [](Device& device) { device.bind_to_thread(); }};
  for (std::size_t use = 0; use < uses.size(); ++use) {
    const int one = 1 + static_cast<int>(use) % 3;
    const Devices devices{DeviceConfig{}};
    cuda_on_cpu::forget_contexts();
    uses[use](devices.device(id(one)));
    EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(one)) << "use " << use;
    EXPECT_TRUE(devices.device(id(one)).in_use()) << "use " << use;
    take({one});
    const Devices none{DeviceConfig{}};
    EXPECT_ERROR_OF(UnusableDevice, held(one) + remedy(one), uses[use](none.device(id(one)))) << "use " << use;
    EXPECT_FALSE(none.device(id(one)).in_use());
    take({});
  }
}

// Threads that have selected no GPU: CUDA would make a context on GPU 0 for them.
TEST_F(CudaContextTest, WhatWasMadeOnAGpuIsUsedAndFreedByThreadsWithoutOneOnAnother) {
  const Devices devices{DeviceConfig{}};
  Device& device = devices.device(id(1));
  std::unique_ptr<Event> event, first, last;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Recording> recording;
  Buffer memory, host;
  const auto make = [&] {
    event = device.new_event(), first = device.new_timed_event(), last = device.new_timed_event();
    stream = device.new_stream();
    memory = device.memory().allocate(16, "use"), host = device.host_memory()->allocate(16, "use");
    const auto copy = [&](Stream& on) { on.copy(host.data(), memory.data(), 16); };
    device.stream().copy(memory.data(), host.data(), 16);
    recording = device.record(std::vector<RecordedWork>{{.memory = {}, .queue = copy}});
    stream->record(*first);
    stream->record(*last);
    stream->synchronize();
  };
  const std::vector<std::function<void()>> uses{[&] { event->ready(); },
                                                [&] { event->wait(); },
                                                [&] { static_cast<void>(last->since(*first)); },
                                                [&] { stream->record(*event); },
                                                [&] { stream->wait_for(*event); },
                                                [&] { stream->copy(memory.data(), host.data(), 16); },
                                                [&] { stream->synchronize(); },
                                                [&] { recording->launch(*stream); },
                                                [&] { event.reset(); },
                                                [&] { recording.reset(); },
                                                [&] { stream.reset(); },
                                                [&] { memory = {}, device.memory().trim(); },
                                                [&] { host = {}, device.host_memory()->trim(); }};
  make();
  for (std::size_t use = 0; use < uses.size(); ++use) {
    cuda_on_cpu::forget_contexts();
    std::jthread(uses[use]).join();
    EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(1)) << "use " << use;
  }
}

TEST_F(CudaContextTest, AThreadThatWaitsForAnotherGpuKeepsItsOwn) {
  const Devices devices{DeviceConfig{}};
  std::jthread([&] {
    devices.device(id(0)).bind_to_thread();
    const std::unique_ptr<Event> event = devices.device(id(2)).new_event();
    devices.device(id(0)).bind_to_thread();
    event->wait();
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 0);
  }).join();
}

TEST_F(CudaContextTest, DevicesEndOnThreadsThatHaveSelectedNoGpu) {
  auto devices = std::make_unique<Devices>(DeviceConfig{});
  static_cast<void>(devices->device(id(2)).memory().allocate(1, "use"));
  cuda_on_cpu::forget_contexts();
  std::jthread([&] { devices.reset(); }).join();
  EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(2));
}

TEST_F(CudaContextTest, WorkOnAGpuMakesOne) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  EXPECT_EQ(devices.default_device(), gpu);
  Eager eager(runtime);
  HostTensor numbers(TensorType{{4}, Dtype::f32});
  for (float& number : numbers.values<float>()) number = 3;
  EXPECT_THAT(eager.download(eager.upload(numbers, gpu)).values<float>(), Each(3.0F));
  runtime.synchronize();
  EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(0));
}

TEST_F(CudaContextTest, ThePoolThatTakesMostOfTheMemoryLooksAtItAtItsFirstAllocation) {
  const Devices devices(support::gpu_devices({{.physical = 2, .memory = {.growth = false}}}));
  EXPECT_THAT(cuda_on_cpu::contexts(), IsEmpty());
  const Buffer buffer = devices.device(gpu).memory().allocate(1024, "first");
  EXPECT_GT(devices.device(gpu).memory().use().reserved, std::size_t{400} << 20);
  EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(2));
}

TEST_F(CudaContextTest, ThreadsThatUseAGpuFirstTogetherShareOne) {
  for (int round = 0; round < 200; ++round) {
    const Devices devices{DeviceConfig{}};
    Device& device = devices.device(id(1));
    std::vector<Stream*> streams(4);
    {
      std::latch all(std::ssize(streams));
      std::vector<std::jthread> threads;
      for (Stream*& stream : streams) {
        threads.emplace_back([&] {
          all.arrive_and_wait();
          stream = &device.stream();
        });
      }
    }
    ASSERT_THAT(streams, Each(&device.stream())) << "round " << round;
  }
  EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(1));
}

TEST_F(CudaContextTest, TheDefaultDeviceIsTheFirstThatCanBeUsed) {
  take({0, 1, 3});
  const Devices devices{DeviceConfig{}};
  EXPECT_EQ(devices.default_device(), id(2));
  EXPECT_THAT(reasons(devices), ElementsAre(held(0), held(1))) << "the last is not tried";
  EXPECT_THAT(devices.ids(), ElementsAre(id(2), id(3), cpu)) << "numbers stay those of CUDA";
  EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(2));
  EXPECT_FALSE(devices.absence(DeviceId::Kind::gpu));
}

TEST_F(CudaContextTest, ThoseThatCannotBeUsedAreLeftOutWhereverTheyStand) {
  for (const int broken : {0, 2, 3}) {
    take({broken});
    cuda_on_cpu::forget_contexts();
    const Devices devices{DeviceConfig{}};
    std::vector<DeviceId> others{id(0), id(1), id(2), id(3), cpu};
    std::erase(others, id(broken));
    EXPECT_EQ(devices.usable(), others);
    EXPECT_EQ(devices.ids(), others);
    EXPECT_TRUE(devices.has(id(broken)));
    EXPECT_THAT(reasons(devices), ElementsAre(held(broken)));
    EXPECT_EQ(cuda_on_cpu::contexts().size(), 3U);
  }
}

TEST_F(CudaContextTest, OnesThatTheScriptNamesAreErrors) {
  take({0, 2});
  const DeviceConfig config = support::gpu_devices({{.physical = 1}, {.physical = 2}});
  const Devices devices{config};
  EXPECT_EQ(devices.default_device(), gpu);
  EXPECT_ERROR_OF(UnusableDevice, held(2) + remedy(2), devices.usable());
  EXPECT_ERROR_OF(UnusableDevice, held(2) + remedy(2), devices.device(id(1)).bind_to_thread());
  const Devices first(support::gpu_devices({{}}));
  EXPECT_ERROR_OF(UnusableDevice, held(0) + remedy(0), first.default_device());
}

TEST_F(CudaContextTest, EachUseOfAGpuTriesAgain) {
  take({1});
  const Devices devices{DeviceConfig{}};
  EXPECT_EQ(devices.fault(id(1))->reason, held(1));
  EXPECT_ERROR_OF(UnusableDevice, held(1) + remedy(1), devices.device(id(1)).stream());
  take({});
  EXPECT_FALSE(devices.fault(id(1)));
  EXPECT_THAT(reasons(devices), IsEmpty());
  EXPECT_THAT(devices.ids(), Contains(id(1)));
}

TEST_F(CudaContextTest, AProhibitedGpuIsNotAskedForOne) {
  take({1});
  cuda_on_cpu::machine().taken_error = cudaSuccess;
  cuda_on_cpu::machine().compute_mode = cudaComputeModeProhibited;
  const Devices devices{DeviceConfig{}};
  EXPECT_EQ(to_string(devices.fault(id(1))),
            "GPU 1 (CUDA on the CPU) cannot be used: its compute mode PROHIBITED lets no process use it; allow it: "
            "nvidia-smi -i 00000000:02:00.0 -c DEFAULT, as root");
  EXPECT_THAT(cuda_on_cpu::contexts(), IsEmpty());
}

TEST_F(CudaContextTest, AGpuWithoutPropertiesIsOneThatCannotBeUsed) {
  cuda_on_cpu::machine().nameless = {1};
  const Devices devices{DeviceConfig{}};
  EXPECT_THAT(devices.usable(), ElementsAre(id(0), id(2), id(3), cpu));
  EXPECT_THAT(reasons(devices), ElementsAre(StartsWith("GPU 1 (unknown) cannot be used: ")));
  EXPECT_THAT(cuda_on_cpu::contexts(), ElementsAre(0, 2, 3));
}

TEST_F(CudaContextTest, WithoutOneThatCanBeUsedTheReasonsAreThoseOfAll) {
  cuda_on_cpu::machine().gpus = 2;
  take({0, 1});
  const Devices devices{DeviceConfig{}};
  EXPECT_FALSE(devices.absence(DeviceId::Kind::gpu)) << "none has been used";
  EXPECT_THAT(devices.usable(), ElementsAre(cpu));
  EXPECT_EQ(devices.absence(DeviceId::Kind::gpu)->reason, held(0) + "; " + held(1));
  EXPECT_FALSE(devices.absence(DeviceId::Kind::cpu));
}

}  // namespace
}  // namespace gpubench
