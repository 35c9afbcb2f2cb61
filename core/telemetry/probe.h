// A source of readings that are taken beside the samples of a measurement. A reading that cannot be taken is NaN, which
// results write as an empty cell: never 0, never -1.
#pragma once
#include <span>
#include <string_view>

namespace gpubench {

class Probe {
 public:
  virtual ~Probe() = default;
  virtual std::string_view name() const = 0;
  /// Names with their unit at the end, as in results: "resident_memory_bytes".
  virtual std::span<const std::string_view> columns() const = 0;
  /// Fills one value per column. Rates and shares cover the time since the previous reading (the first: since
  /// construction).
  virtual void read(std::span<double> values) = 0;
};

}  // namespace gpubench
