// Programs of tests that mpirun starts as several processes. The first failure ends all.
#pragma once
#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <type_traits>

#include "core/group/join.h"
#include "core/math/half.h"

namespace gpubench {

inline std::unique_ptr<ProcessGroup>& joined() {
  static std::unique_ptr<ProcessGroup> group;
  return group;
}

inline ProcessGroup& group() {
  return *joined();
}

/// Values that are exact in every type, and different by rank and place.
inline double value_at(int rank, std::int64_t i) {
  return static_cast<double>((i * 7 + rank * 3) % 16) - 4;
}

inline double sum_at(std::int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < group().size(); ++rank) sum += value_at(rank, i);
  return sum;
}

template <class T>
T stored(double x) {
  if constexpr (std::is_same_v<T, math::Float16>)
    return math::to_float16(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, math::Bfloat16>)
    return math::to_bfloat16(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// Joins the processes and runs the tests in each; the exit status of main().
inline int test_in_processes() {
  joined() = join_process_group({});
  if (!joined()) {
    fmt::print(stderr, "start this by mpirun\n");
    return 2;
  }
  const int status = RUN_ALL_TESTS();
  if (status != 0) joined()->fail("its tests failed", status);
  joined() = nullptr;
  return status;
}

}  // namespace gpubench
