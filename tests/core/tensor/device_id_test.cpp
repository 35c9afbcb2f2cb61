#include "core/tensor/device_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

TEST(DeviceId, ReadsTheFormsThatPeopleWrite) {
  EXPECT_EQ(to_string(parse_device_id("cpu:0")), "cpu:0");
  EXPECT_EQ(to_string(parse_device_id("CPU")), "cpu:0");
  EXPECT_EQ(to_string(parse_device_id("/GPU:1")), "gpu:1");
  EXPECT_EQ(to_string(parse_device_id("/device:GPU:2")), "gpu:2");
  EXPECT_EQ(to_string(parse_device_id("emulated:h200:3")), "emulated:h200:3");
  EXPECT_EQ(to_string(parse_device_id("emulated:h200")), "emulated:h200:0");
}

TEST(DeviceId, RefusesWhatNamesNoDevice) {
  for (const char* name : {"", "tpu:0", "gpu:x", "gpu:-1", "gpu:1:2", "emulated", "emulated:", "cpu:99999"}) {
    EXPECT_ERROR(testing::HasSubstr("names no device; write cpu:0, gpu:1"), parse_device_id(name)) << name;
  }
}

}  // namespace
}  // namespace gpubench
