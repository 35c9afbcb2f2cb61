#include "core/report/chart/value_order.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "core/report/chart/chart.h"

namespace gpubench {
namespace {

// 1 and 1.0 are one value, 1 and "1" are two.
std::string key_of(const Cell& value) {
  const auto number = number_in(value);
  return number ? fmt::format("{}", *number) : fmt::format("{}:{}", value.index(), to_text(value));
}

}  // namespace

ValueOrder::ValueOrder(const std::string& column, std::span<const Record* const> rows,
                       std::span<const ChartAxis> axes) {
  std::vector<Cell> values;
  const auto axis = std::ranges::find(axes, column, &ChartAxis::name);
  if (axis != axes.end()) values = axis->values;
  for (const Record* row : rows) values.push_back(row->get(column));
  std::map<std::string, bool> seen;
  std::erase_if(values,
                [&](const Cell& value) { return is_empty(value) || !seen.emplace(key_of(value), true).second; });
  if (std::ranges::none_of(values, [](const Cell& value) { return std::isnan(number_in(value).value_or(NAN)); }))
    std::ranges::stable_sort(values, {}, [](const Cell& value) { return *number_in(value); });
  for (const Cell& value : values) places_.emplace(key_of(value), places_.size());
}

std::size_t ValueOrder::of(const Cell& value) const {
  const auto found = places_.find(key_of(value));
  return found == places_.end() ? places_.size() : found->second;
}

}  // namespace gpubench
