// Stands for a slow disk or network: every element comes no sooner than a latency and its bytes at a bandwidth allow,
// counted from when it is asked for, so that what the stages before take is part of that time. Waiting costs no CPU
// time and ends when the cursor's owner asks for a stop; every cursor waits for itself, as requests to a network do.
//
//   throttle(digits, {.latency = Seconds(0.005), .bytes_per_s = 100e6})
#pragma once
#include <memory>
#include <optional>

#include "core/base/ticker.h"
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
