#include "core/results/record.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpubench {

Record::Record(std::vector<std::pair<std::string, Cell>> cells) : cells_(std::move(cells)), by_name_(cells_.size()) {
  std::iota(by_name_.begin(), by_name_.end(), std::uint32_t{0});
  std::ranges::stable_sort(by_name_, {}, [&](std::uint32_t i) -> std::string_view { return cells_[i].first; });
}

std::vector<std::uint32_t>::const_iterator Record::place_of(std::string_view column) const {
  return std::ranges::lower_bound(by_name_, column, {},
                                  [&](std::uint32_t i) -> std::string_view { return cells_[i].first; });
}

bool Record::is_at(std::vector<std::uint32_t>::const_iterator place, std::string_view column) const {
  return place != by_name_.end() && cells_[*place].first == column;
}

void Record::set(std::string_view column, Cell cell) {
  const auto place = place_of(column);
  if (is_at(place, column)) {
    cells_[*place].second = std::move(cell);
  } else {
    by_name_.insert(place, static_cast<std::uint32_t>(cells_.size()));
    cells_.emplace_back(column, std::move(cell));
  }
}

void Record::set_measured(std::string_view column, double value) {
  if (std::isfinite(value)) set(column, value);
}

const Cell& Record::get(std::string_view column) const {
  static const Cell empty_cell;
  const auto place = place_of(column);
  return is_at(place, column) ? cells_[*place].second : empty_cell;
}

}  // namespace gpubench
