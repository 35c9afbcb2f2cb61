#include "core/telemetry/peaks.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(Peaks, AreDense) {
  EXPECT_DOUBLE_EQ(*dense_peak("NVIDIA H200", Arithmetic::bfloat16), 989.4e12);
  EXPECT_DOUBLE_EQ(*dense_peak("NVIDIA H200", Arithmetic::float32), 67e12);
  EXPECT_DOUBLE_EQ(*dense_peak("NVIDIA A100-SXM4-80GB", Arithmetic::float16), 312e12);
  EXPECT_DOUBLE_EQ(*dense_peak("NVIDIA GeForce RTX 4090", Arithmetic::bfloat16), 165.2e12);
}

TEST(Peaks, ProductsAreKnownByTheirWholeNames) {
  EXPECT_EQ(dense_peak("H100 80GB HBM3", Arithmetic::tf32), dense_peak("NVIDIA H100 80GB HBM3", Arithmetic::tf32));
  EXPECT_EQ(*dense_peak("Tesla V100-SXM2-16GB", Arithmetic::float16), 125e12);
  EXPECT_NE(dense_peak("NVIDIA H100 PCIe", Arithmetic::tf32), dense_peak("NVIDIA H100 80GB HBM3", Arithmetic::tf32));
  EXPECT_NE(dense_peak("NVIDIA L40", Arithmetic::tf32), dense_peak("NVIDIA L40S", Arithmetic::tf32));
  for (const char* name :
       {"", "NVIDIA ", "NVIDIA H100", "NVIDIA A10G", "NVIDIA GeForce RTX 4090 Laptop GPU", "A100X"}) {
    for (const Arithmetic arithmetic : all_arithmetic) EXPECT_FALSE(dense_peak(name, arithmetic)) << name;
  }
}

TEST(Peaks, WhatAGpuCannotHasNone) {
  EXPECT_FALSE(dense_peak("NVIDIA A100-SXM4-40GB", Arithmetic::float8));
  EXPECT_FALSE(dense_peak("Tesla T4", Arithmetic::bfloat16));
  EXPECT_TRUE(dense_peak("Tesla T4", Arithmetic::int8));
}

TEST(Peaks, ASliceHasTheShareOfItsMultiprocessors) {
  const DeviceSlice slice{"3g.20gb", 42, std::size_t{20} << 30};
  EXPECT_DOUBLE_EQ(*share_of_multiprocessors("NVIDIA A100-SXM4-40GB", slice), 42.0 / 108);
  EXPECT_DOUBLE_EQ(*share_of_multiprocessors("NVIDIA A100-SXM4-40GB MIG 3g.20gb", slice), 42.0 / 108);
  EXPECT_EQ(multiprocessors_text("NVIDIA A100-SXM4-40GB", slice), "42 of 108 multiprocessors");
  EXPECT_FALSE(share_of_multiprocessors("NVIDIA X100", slice)) << "nothing is guessed";
  EXPECT_EQ(multiprocessors_text("NVIDIA X100", slice), "42 multiprocessors");
}

TEST(Peaks, NarrowerArithmeticIsNoSlower) {
  for (const char* name : {"H200", "H200 NVL", "H100 80GB HBM3", "H100 PCIe", "A30", "A10", "L40S", "L40", "L4"}) {
    EXPECT_LE(*dense_peak(name, Arithmetic::float32), *dense_peak(name, Arithmetic::tf32)) << name;
    EXPECT_NEAR(*dense_peak(name, Arithmetic::bfloat16) / *dense_peak(name, Arithmetic::tf32), 2, 0.03) << name;
    EXPECT_NEAR(*dense_peak(name, Arithmetic::int8) / *dense_peak(name, Arithmetic::bfloat16), 2, 0.03) << name;
    EXPECT_EQ(dense_peak(name, Arithmetic::float16), dense_peak(name, Arithmetic::bfloat16)) << name;
  }
}

TEST(Peaks, BandwidthIsTwiceTheClockTimesTheWidth) {
  EXPECT_NEAR(memory_bandwidth(2619e6, 5120) / 3.35e12, 1, 0.01) << "H100, by its datasheet";
  EXPECT_NEAR(memory_bandwidth(1593e6, 5120) / 2.039e12, 1, 0.01) << "A100 with 80 GB";
  EXPECT_NEAR(memory_bandwidth(5001e6, 256) / 320e9, 1, 0.01) << "T4";
}

TEST(Peaks, ArithmeticHasNames) {
  EXPECT_EQ(to_string(Arithmetic::tf32), "tf32");
  EXPECT_EQ(to_string(Arithmetic::int8), "int8");
}

}  // namespace
}  // namespace gpubench
