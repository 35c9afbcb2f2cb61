// How far the values of a sample spread, where up to half of them may be outliers.
#pragma once
#include <span>

namespace gpubench {

/// The standard deviation of normal values by their distances from each other: Qn of Rousseeuw and Croux 1993
/// ("Alternatives to the median absolute deviation"), 82 % efficient where the median deviation is 37 %: as sure with
/// ten values as that with twenty. 0 of fewer than two values, and where about half of the values are equal. Time and
/// memory grow with the square of the number of values.
double qn_scale(std::span<const double> values);

}  // namespace gpubench
