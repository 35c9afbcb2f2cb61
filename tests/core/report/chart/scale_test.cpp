#include "core/report/chart/scale.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(Scale, OnePrefixForTheAxis) {
  const AxisScale time = axis_scale(column_of("step_time_s"), 4.5e-4);
  EXPECT_EQ(time.label, "step time (µs)");
  EXPECT_DOUBLE_EQ(time.factor, 1e6);
  const AxisScale rate = axis_scale(column_of("examples_per_s"), 250000);
  EXPECT_EQ(rate.label, "examples/s (thousand)");
  EXPECT_DOUBLE_EQ(rate.factor, 1e-3);
  EXPECT_EQ(axis_scale(column_of("flops_per_s"), 3e10).label, "flops (GFLOP/s)");
  EXPECT_EQ(axis_scale(column_of("peak_memory_bytes"), 5e6).label, "peak memory (MiB)");
  EXPECT_EQ(axis_scale(column_of("sm_clock_hz"), 1.98e9).label, "sm clock (GHz)");
  EXPECT_EQ(axis_scale(column_of("temperature_c"), 61).label, "temperature (°C)");
  EXPECT_EQ(axis_scale(column_of("accuracy"), 0.9).label, "accuracy (%)");
  EXPECT_EQ(axis_scale(column_of("loss"), 0.9).label, "loss");
  EXPECT_EQ(axis_scale(column_of("nonzero_bytes"), 5e6).label, "nonzero (MiB)");
  EXPECT_EQ(axis_scale(column_of("bus_bytes_per_s"), 5e6).label, "bus bytes (MB/s)");
  EXPECT_EQ(axis_scale(column_of("images_per_s"), 5).label, "images/s");
  EXPECT_EQ(axis_scale(column_of("gap_s"), 0).label, "gap (ns)");
}

}  // namespace
}  // namespace gpubench
