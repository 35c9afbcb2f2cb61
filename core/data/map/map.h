// Applies a function to every element, in the consumer's thread or by workers. Inputs are read where they lie, and a
// batch that follows has the results written straight into its rows, one batch a worker.
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
  /// 0: the consumer's thread does it; `autotune`: as many as keep the consumer busy, changed while the epoch runs.
  std::int64_t workers = 0;
  /// Results come in the source's order; else as they are finished. Absent: what the pipeline's options say, else true.
  std::optional<bool> deterministic{};
  /// Where the function, a graph, runs, in the consumer's thread; absent: on the host, one thread for each worker.
  /// Results stay in the device's memory.
  std::optional<DevicePlace> place{};

  bool operator==(const MapOptions&) const = default;
};

/// A map of a map with the same options is one map of both functions.
/// Throws Error when the workers are out of range, when the function cannot run at the place, and what the function
/// throws for the source's element types.
DatasetPtr map(DatasetPtr source, std::shared_ptr<const ElementFunction> function, const MapOptions& options = {});

}  // namespace gpubench
