#include "core/exec/variable_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/device/device.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

class VariableStoreTest : public testing::Test {
 protected:
  Devices devices_{DeviceConfig{}};
  VariableStore store_{devices_};
};

TEST_F(VariableStoreTest, KeepsValuesUntilTheLastHandleIsGone) {
  VariablePtr one = store_.create("one", HostTensor::scalar(1.0F), {});
  const VariablePtr two = store_.create("two", HostTensor::scalar(2.0F), {});
  EXPECT_EQ(store_.read(*two).values<float>()[0], 2.0F);
  store_.write(*two, HostTensor::scalar(3.0F));
  EXPECT_EQ(store_.read(*two).values<float>()[0], 3.0F);
  EXPECT_EQ(devices_.device({}).memory().use().in_use, 2 * MemoryPool::alignment);
  one.reset();
  EXPECT_EQ(devices_.device({}).memory().use().in_use, MemoryPool::alignment);
  const VariablePtr three = store_.create("three", HostTensor::scalar(4.0F), {});
  EXPECT_EQ(store_.read(*two).values<float>()[0], 3.0F);
}

TEST(VariableStore, SaysWhereVariablesAloneAreTooLarge) {
  constexpr std::size_t limit = 4096;
  const Devices devices(support::cpu_devices({{.memory = {.limit = limit}}}));
  VariableStore store(devices);
  const VariablePtr kept = store.create("kept", HostTensor({{limit / 8}, Dtype::f32}), {});
  EXPECT_ERROR_OF(OutOfMemoryForVariable, testing::HasSubstr("asked for 'wide'"),
                  store.create("wide", HostTensor({{limit}, Dtype::f32}), {}));
  const Buffer activations = devices.device({}).memory().allocate(limit / 4, "arena");
  try {
    store.create("wide", HostTensor({{limit}, Dtype::f32}), {});
    FAIL();
  } catch (const OutOfMemoryForVariable&) {
    FAIL() << "smaller activations may make room";
  } catch (const OutOfMemory&) {
    SUCCEED();
  }
}

TEST_F(VariableStoreTest, AHandleMayOutliveItsStore) {
  VariablePtr left;
  {
    VariableStore store(devices_);
    left = store.create("left", HostTensor::scalar(1.0F), {});
  }
  left.reset();
  EXPECT_EQ(devices_.device({}).memory().use().in_use, 0U);
}

TEST_F(VariableStoreTest, RefusesValuesOfAnotherType) {
  const VariablePtr one = store_.create("dense/bias", HostTensor::scalar(1.0F), {});
  EXPECT_ERROR("variable dense/bias is float32[]; it cannot be set to float32[2]",
               store_.write(*one, HostTensor::zeros({{2}, Dtype::f32})));
}

}  // namespace
}  // namespace gpubench
