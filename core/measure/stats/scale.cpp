#include "core/measure/stats/scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace gpubench {
namespace {

/// Makes the estimate right in the mean for few values (Croux and Rousseeuw 1992, "Time-efficient algorithms for two
/// highly robust estimators of scale").
double factor_of_few(std::size_t count) {
  constexpr std::array of_less_than_ten{0.0, 0.0, 0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872};
  if (count < of_less_than_ten.size()) return of_less_than_ten[count];
  const auto n = static_cast<double>(count);
  return n / (n + (count % 2 == 1 ? 1.4 : 3.8));
}

}  // namespace

double qn_scale(std::span<const double> values) {
  constexpr double for_normal_values = 2.2219;
  if (values.size() < 2) return 0;
  std::vector<double> distances;
  distances.reserve(values.size() * (values.size() - 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j) distances.push_back(std::fabs(values[i] - values[j]));
  const std::size_t half = values.size() / 2 + 1;
  const auto at = distances.begin() + static_cast<std::ptrdiff_t>(half * (half - 1) / 2 - 1);
  std::ranges::nth_element(distances, at);
  return factor_of_few(values.size()) * for_normal_values * *at;
}

}  // namespace gpubench
