#include "core/experiment/collectives/all_reduce_curve.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

constexpr double latency = 2e-6, per_byte = 1e-10;

std::vector<AllReduceTime> straight() {
  std::vector<AllReduceTime> times;
  for (const double bytes : {1e3, 1e5, 1e4, 1e7}) times.push_back({bytes, latency + bytes * per_byte});
  return times;
}

TEST(AllReduceCurve, finds_latency_and_bandwidth) {
  const AllReduceCurve curve(2, straight());
  EXPECT_NEAR(curve.latency(), latency, 1e-12);
  EXPECT_NEAR(curve.seconds_per_byte(), per_byte, 1e-16);
  EXPECT_EQ(curve.sizes(), 4U);
  for (const double bytes : {1.0, 1e3, 3e4, 1e9}) {
    EXPECT_NEAR(curve.seconds(bytes, 2, ExchangePattern::ring), latency + bytes * per_byte,
                1e-9 * (1 + bytes * per_byte));
  }
}

TEST(AllReduceCurve, more_ranks_pay_the_latency_of_every_hop_and_move_nearly_twice_the_message) {
  const AllReduceCurve curve(2, straight());
  const double bytes = 1e6, moving = bytes * per_byte;  // 2 (2 - 1) / 2 = 1 for two ranks
  EXPECT_NEAR(curve.seconds(bytes, 4, ExchangePattern::ring), 3 * latency + 1.5 * moving, 1e-12);
  EXPECT_NEAR(curve.seconds(bytes, 4, ExchangePattern::tree), 2 * latency + 1.5 * moving, 1e-12);
  EXPECT_NEAR(curve.seconds(bytes, 5, ExchangePattern::tree), 3 * latency + 1.6 * moving, 1e-12);
  EXPECT_NEAR(curve.seconds(bytes, 4096, ExchangePattern::tree), 12 * latency + 2 * 4095.0 / 4096 * moving, 1e-12);
  EXPECT_EQ(curve.seconds(bytes, 1, ExchangePattern::ring), 0);
}

TEST(AllReduceCurve, follows_what_was_measured_between_the_sizes) {
  // Slower beyond a cache: no straight line fits all three.
  const AllReduceCurve curve(2, {{1000, 2e-6}, {2000, 3e-6}, {4000, 9e-6}});
  EXPECT_DOUBLE_EQ(curve.seconds(2000, 2, ExchangePattern::ring), 3e-6);
  EXPECT_DOUBLE_EQ(curve.seconds(3000, 2, ExchangePattern::ring), 6e-6);
  EXPECT_NEAR(curve.seconds_from_others(2000), 2e-6 + 7e-6 / 3, 1e-12);
}

TEST(AllReduceCurve, neither_latency_nor_bandwidth_is_negative) {
  const AllReduceCurve steep(2, {{1000, 1e-6}, {2000, 4e-6}});
  EXPECT_EQ(steep.latency(), 0);
  EXPECT_GT(steep.seconds_per_byte(), 0);
  const AllReduceCurve falling(2, {{1000, 4e-6}, {2000, 1e-6}});
  EXPECT_EQ(falling.seconds_per_byte(), 0);
  EXPECT_GT(falling.latency(), 0);
}

TEST(AllReduceCurve, needs_times_of_two_sizes) {
  EXPECT_ERROR(
      "scaling_model: latency and bandwidth follow from all-reduces of at least two sizes; "
      "there is only one of 2 replicas",
      AllReduceCurve(2, {{1000, 1e-6}, {1000, 2e-6}}));
  EXPECT_ERROR("scaling_model: an all-reduce needs at least 2 replicas, got 1", AllReduceCurve(1, straight()));
  EXPECT_ERROR("scaling_model: sizes and times of all-reduces must be above 0",
               AllReduceCurve(2, {{1000, 0}, {2000, 1}}));
  EXPECT_ERROR("unknown pattern 'star' (known: ring, tree)", parse_exchange_pattern("star"));
}

}  // namespace
}  // namespace gpubench
