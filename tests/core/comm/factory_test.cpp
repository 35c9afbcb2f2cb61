#include "core/comm/factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cpu/host_device.h"
#include "tests/core/group/thread_group.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

/// A device with a memory of its own.
class Accelerator final : public Device {
 public:
  const DeviceId& id() const override { return id_; }
  std::string description() const override { return "accelerator"; }
  MemoryPool& memory() override { return host_.memory(); }
  Stream& stream() override { return host_.stream(); }
  std::unique_ptr<Stream> new_stream() override { return host_.new_stream(); }
  std::unique_ptr<Event> new_event() override { return host_.new_event(); }
  void bind_to_thread() override {}
  bool shares_host_memory() const override { return false; }

 private:
  DeviceId id_{DeviceId::Kind::emulated, 0, "h200"};
  HostDevice host_{{DeviceId::Kind::cpu, 7, ""}, {}};
};

class Factory : public testing::Test {
 protected:
  HostDevice first_{{DeviceId::Kind::cpu, 0, ""}, {}}, second_{{DeviceId::Kind::cpu, 1, ""}, {}};
  std::vector<Device*> devices_{&first_, &second_};
};

TEST_F(Factory, cpu_devices_exchange_in_host_memory) {
  for (const CrossDevice how : {CrossDevice::automatic, CrossDevice::local, CrossDevice::reduction_to_one}) {
    const auto communicators = make_communicators(devices_, how, nullptr);
    ASSERT_EQ(communicators.size(), 2U);
    EXPECT_EQ(communicators[1]->rank(), 1);
    EXPECT_EQ(communicators[0]->size(), 2);
    EXPECT_EQ(communicators[0]->name(), "local");
  }
}

TEST_F(Factory, devices_that_cannot_exchange_are_named) {
  EXPECT_ERROR("a communicator needs at least one device", make_communicators({}, CrossDevice::automatic, nullptr));
  EXPECT_ERROR(
      testing::StartsWith("nccl: "),
      make_communicators(devices_, CrossDevice::nccl, nullptr));  // by NCCL's own tests, where there is an NCCL
  devices_.push_back(&first_);
  EXPECT_ERROR("cpu:0, cpu:1, cpu:0: cpu:0 is there twice; every rank needs a device of its own",
               make_communicators(devices_, CrossDevice::automatic, nullptr));
  devices_.pop_back();
  Accelerator accelerator;
  devices_.push_back(&accelerator);
  EXPECT_ERROR(
      "cpu:0, cpu:1, emulated:h200:0 cannot exchange by cross_device = \"local\": CPU "
      "devices exchange with CPU devices, and GPUs with GPUs",
      make_communicators(devices_, CrossDevice::local, nullptr));
  EXPECT_ERROR(
      "cpu:0, cpu:1, emulated:h200:0 cannot exchange with each other: CPU devices "
      "exchange with CPU devices, and GPUs with GPUs",
      make_communicators(devices_, CrossDevice::automatic, nullptr));
}

TEST_F(Factory, host_memory_of_several_processes_needs_mpi) {
  Threads threads(1);
  ThreadGroup group(threads, 0);
  EXPECT_ERROR(
      "tensors in the host's memory go between processes through MPI: start them with "
      "mpirun or gpubench run --workers",
      make_communicator(group));
}

TEST(CrossDevice, names) {
  EXPECT_EQ(parse_cross_device("reduction_to_one"), CrossDevice::reduction_to_one);
  EXPECT_EQ(to_string(CrossDevice::nccl), "nccl");
  EXPECT_ERROR("unknown cross_device 'ring' (known: automatic, local, nccl, reduction_to_one)",
               parse_cross_device("ring"));
}

}  // namespace
}  // namespace gpubench
