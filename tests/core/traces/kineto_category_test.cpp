#include "core/traces/kineto_category.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(KinetoCategory, IsKnownByTheNamesOfTodayAndOf2021) {
  for (const char* const name : {"cpu_op", "Operator"}) EXPECT_EQ(category_of(name), KinetoCategory::op) << name;
  for (const char* const name : {"kernel", "Kernel"}) EXPECT_EQ(category_of(name), KinetoCategory::kernel) << name;
  EXPECT_EQ(category_of(""), KinetoCategory::none);
  EXPECT_EQ(category_of("ac2g"), KinetoCategory::skipped);
}

TEST(KinetoCategory, SaysWhatRecordsAnEvent) {
  for (const char* const name : {"gpu_memcpy", "gpu_memset", "kernel", "mtia_ccp_events"})
    EXPECT_TRUE(is_of_device(category_of(name))) << name;
  for (const char* const name : {"cuda_runtime", "cpu_op", "overhead", ""})
    EXPECT_FALSE(is_of_device(category_of(name))) << name;
  EXPECT_EQ(record_of(category_of("cuda_runtime")), HostRecord::call);
  EXPECT_EQ(record_of(category_of("python_function")), HostRecord::other);
}

}  // namespace
}  // namespace gpubench
