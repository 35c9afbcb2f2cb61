// Simulates a slow disk or network: an element takes at least a latency, and its bytes divided by a bandwidth. The time
// counts from the call of next(), so it includes the time of the stages before. Waiting takes no CPU time and ends at a
// stop (CursorOptions::stop). Cursors wait independently of each other, as requests to a network do.
//
//   throttle(digits, {.latency = Seconds(0.005), .bytes_per_s = 100e6})
#pragma once
#include <memory>
#include <optional>

#include "core/base/waiting.h"
#include "core/data/dataset.h"

namespace gpubench {

struct ThrottleOptions {
  Seconds latency{};
  /// Nothing: as fast as they come.
  std::optional<double> bytes_per_s{};
};

/// Elements passed over cost nothing. Throws Error for a latency below 0 and a bandwidth that is not above it.
DatasetPtr throttle(DatasetPtr source, const ThrottleOptions& options,
                    std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());

}  // namespace gpubench
