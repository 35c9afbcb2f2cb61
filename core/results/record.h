// One row of results: cells in the order in which they were set, found by their names in logarithmic time, because a
// row may have thousands.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/results/cell.h"

namespace gpubench {

class Record {
 public:
  Record() = default;
  Record(std::initializer_list<std::pair<std::string, Cell>> cells) : Record(std::vector(cells)) {}
  /// Of as many columns as there are cells.
  explicit Record(std::vector<std::pair<std::string, Cell>> cells);

  bool operator==(const Record&) const = default;
  /// Replaces the column's cell or adds it at the end.
  void set(std::string_view column, Cell cell);
  /// The same for a number; ignores NaN and infinities, which mean "not measured".
  void set_measured(std::string_view column, double value);
  /// Empty for a column that was never set.
  const Cell& get(std::string_view column) const;
  bool has(std::string_view column) const { return !is_empty(get(column)); }
  const std::vector<std::pair<std::string, Cell>>& cells() const { return cells_; }

 private:
  /// The place in by_name_ of the first cell whose column is not before this one.
  std::vector<std::uint32_t>::const_iterator place_of(std::string_view column) const;
  bool is_at(std::vector<std::uint32_t>::const_iterator place, std::string_view column) const;

  std::vector<std::pair<std::string, Cell>> cells_;
  /// Indices of cells_, in the order of their columns' names.
  std::vector<std::uint32_t> by_name_;
};

}  // namespace gpubench
