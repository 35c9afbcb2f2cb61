// Seeded series of standard normal values.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace gpubench {

inline std::vector<double> noise(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(engine);
  return values;
}

}  // namespace gpubench
