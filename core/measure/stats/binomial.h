// The binomial distribution.
#pragma once
#include <cstddef>

namespace gpubench {

/// The probability of at least `count` of `of` where each has the probability `p`, which is below 1.
double binomial_tail(std::size_t count, std::size_t of, double p);

}  // namespace gpubench
