// Simulates a slow disk or network: an element takes at least the latency plus its bytes divided by the bandwidth. The
// time starts with the call of next(), so it includes the time of earlier stages. Waiting uses no CPU time and ends at
// a stop request (CursorOptions::stop). Cursors wait independently, like requests to a network.
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
  /// Absent: unlimited.
  std::optional<double> bytes_per_s{};
};

/// Skipped elements cost nothing. Throws Error for a negative latency, and for a bandwidth that is not positive.
DatasetPtr throttle(DatasetPtr source, const ThrottleOptions& options,
                    std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());

}  // namespace gpubench
