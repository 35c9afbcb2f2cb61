#include "core/measure/stats/binomial.h"

#include <cmath>

namespace gpubench {

double binomial_tail(std::size_t count, std::size_t of, double p) {
  double tail = 0, term = std::pow(1 - p, static_cast<double>(of));
  for (std::size_t i = 0; i <= of; ++i) {
    if (i >= count) tail += term;
    term *= static_cast<double>(of - i) / static_cast<double>(i + 1) * p / (1 - p);
  }
  return tail;
}

}  // namespace gpubench
