// What many comparisons in one report do to the chance of a false alarm.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpubench {

/// For each p the smallest false discovery rate at which it counts as a discovery, in the same order (Benjamini and
/// Hochberg 1995, "Controlling the false discovery rate").
std::vector<double> false_discovery_rates(std::span<const double> p);

/// The largest two-sided p of the Mann-Whitney test below `limit` for sides of these sizes without ties: the rate
/// at which equal sides get below it. 0 if no p is below. `limit` itself for 20 or more on both
/// sides, which come close to it.
double attained_level(std::size_t before, std::size_t after, double limit);

}  // namespace gpubench
