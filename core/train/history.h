// The figures of a training, by epoch: what fit returns.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/train/metric_states.h"

namespace gpubench {

struct History {
  std::vector<std::int64_t> epochs;
  /// By figure, in the order in which they first appeared; one value per epoch.
  std::vector<std::pair<std::string, std::vector<double>>> figures;

  void add(std::int64_t epoch, const Logs& logs);
};

}  // namespace gpubench
