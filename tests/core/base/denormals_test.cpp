#include "core/base/denormals.h"

#include <cfenv>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

namespace gpubench {
namespace {

/// A tenth of the smallest normal number.
float underflow() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.1F;
}

// In a thread of its own, because the setting would stay with this one; it starts from the default, not from ours.
template <class Body>
void in_new_thread(Body body) {
  std::thread([&] {
    std::fesetenv(FE_DFL_ENV);
    body();
  }).join();
}

TEST(Denormals, AreResultsUntilTheyAreFlushed) {
  in_new_thread([] {
    EXPECT_GT(underflow(), 0.0F);
    flush_denormals();
    EXPECT_EQ(underflow(), 0.0F);
  });
}

TEST(Denormals, AreStillReadAsTheyAre) {
  in_new_thread([] {
    flush_denormals();
    volatile float denormal = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(denormal * 0x1p+100F, 0x1p-49F);
  });
}

TEST(FlushedDenormals, lasts_as_long_as_it_lives) {
  volatile float normal = std::numeric_limits<float>::min();
  {
    const FlushedDenormals flushed;
    EXPECT_EQ(normal * 0.5F, 0);
  }
  EXPECT_GT(normal * 0.5F, 0);
}

}  // namespace
}  // namespace gpubench
