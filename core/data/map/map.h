// Applies a function to every element, in the consumer's thread or in workers. Inputs are read in place, and results
// are written directly into the rows of a following batch, one batch per worker.
//
//   map(digits, function, {.workers = 4})
#pragma once
#include <memory>
#include <optional>

#include "core/data/dataset.h"
#include "core/data/device/device_place.h"
#include "core/data/function/element_function.h"

namespace gpubench {

struct MapOptions {
  /// 0: the consumer's thread computes; `autotune`: as many workers as keep the consumer busy, adapted during the
  /// epoch.
  std::int64_t workers = 0;
  /// Whether results keep the source's order. Absent: the setting of options(), else true.
  std::optional<bool> deterministic{};
  /// The device on which the function, a graph, runs, from the consumer's thread; absent: on the host, one thread per
  /// worker. Results stay in the device's memory.
  std::optional<DevicePlace> place{};

  bool operator==(const MapOptions&) const = default;
};

/// A map of a map with the same options becomes one map of both functions. Throws Error if the number of workers is out
/// throws for the source's element types.
DatasetPtr map(DatasetPtr source, std::shared_ptr<const ElementFunction> function, const MapOptions& options = {});

}  // namespace gpubench
