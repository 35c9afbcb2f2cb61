// A source of readings taken during a measurement. A reading that fails is NaN, written to results as an empty cell:
// never 0, never -1.
#pragma once
#include <span>
#include <string_view>

namespace gpubench {

class Probe {
 public:
  virtual ~Probe() = default;
  virtual std::string_view name() const = 0;
  /// Names that end in their unit, as in results: "resident_memory_bytes".
  virtual std::span<const std::string_view> columns() const = 0;
  /// Writes one value per column. Rates and shares cover the time since the previous reading (the first: since
  /// construction).
  virtual void read(std::span<double> values) = 0;
};

}  // namespace gpubench
