#include "core/backend/cpu/denormals.h"

#include <array>
#include <cfenv>
#include <gtest/gtest.h>
#include <limits>
#include <omp.h>
#include <thread>

namespace gpubench::cpu {
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
    flush_denormals_in_team(1);
    EXPECT_EQ(underflow(), 0.0F);
  });
}

TEST(Denormals, AreFlushedInTheWholeTeam) {
  in_new_thread([] {
    std::array<float, 2> results{1.0F, 1.0F};
    flush_denormals_in_team(2);
#pragma omp parallel num_threads(2)
    results[omp_get_thread_num()] = underflow();
    EXPECT_EQ(results[0], 0.0F);
    EXPECT_EQ(results[1], 0.0F);
  });
}

TEST(Denormals, AreStillReadAsTheyAre) {
  in_new_thread([] {
    flush_denormals_in_team(1);
    volatile float denormal = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(denormal * 0x1p+100F, 0x1p-49F);
  });
}

}  // namespace
}  // namespace gpubench::cpu
