// The order of a column's values in charts: by size where all are numbers, else as the axis was declared, else as they
// appear.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "core/results/record.h"

namespace gpubench {

struct ChartAxis;

class ValueOrder {
 public:
  ValueOrder(const std::string& column, std::span<const Record* const> rows, std::span<const ChartAxis> axes);
  /// From 0; the number of values for one that no row has.
  std::size_t of(const Cell& value) const;

 private:
  std::map<std::string, std::size_t> places_;
};

}  // namespace gpubench
