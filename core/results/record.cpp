#include "core/results/record.h"

#include <algorithm>
#include <cmath>

namespace gpubench {

void Record::set(std::string_view column, Cell cell) {
  const auto found = std::ranges::find(cells_, column, &std::pair<std::string, Cell>::first);
  if (found != cells_.end()) {
    found->second = std::move(cell);
  } else {
    cells_.emplace_back(column, std::move(cell));
  }
}

void Record::set_measured(std::string_view column, double value) {
  if (std::isfinite(value)) set(column, value);
}

const Cell& Record::get(std::string_view column) const {
  static const Cell empty_cell;
  const auto found = std::ranges::find(cells_, column, &std::pair<std::string, Cell>::first);
  return found == cells_.end() ? empty_cell : found->second;
}

}  // namespace gpubench
