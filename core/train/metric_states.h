// The states of an epoch (loss and metrics), as variables to which graphs add.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/runtime.h"
#include "core/nn/initializer.h"
#include "core/nn/metric.h"

namespace gpubench {

/// Named figures in a fixed order, for callbacks and the history.
using Logs = std::vector<std::pair<std::string, double>>;

/// The figure with this name, or null.
const double* find_log(const Logs& logs, std::string_view name);
/// "loss, accuracy"
std::string names_of_logs(const Logs& logs);

struct Figure {
  std::string name;
  MetricPtr metric = nullptr;   ///< null: a mean
  std::int64_t size = 2;        ///< of its state
  VariablePtr state = nullptr;  ///< of a CustomStep; null: MetricStates makes one

  /// Losses are minimized; nothing is known of other numbers of a CustomStep.
  std::optional<Direction> direction() const {
    if (metric) return metric->direction();
    return state && name != "loss" ? std::nullopt : std::optional(Direction::down);
  }
};

class MetricStates {
 public:
  MetricStates(Runtime& runtime, VariableFactory& factory, std::vector<Figure> figures, const DeviceId& device);

  /// float32 [size]; of a mean sum and count.
  const VariablePtr& state(std::size_t index) const { return states_[index]; }
  std::size_t size() const { return states_.size(); }
  const std::vector<Figure>& figures() const { return figures_; }
  const std::vector<VariablePtr>& variables() const { return states_; }
  void reset();
  /// What has been added since the last reset, to go on with after others have used the states.
  std::vector<HostTensor> values() const;
  void set_values(const std::vector<HostTensor>& values);
  /// The figures since the last reset; waits for the device. Means without values are left out. Of a metric with
  /// several results they are "precision[1]", "precision[2]", ...
  Logs read() const;

 private:
  Runtime& runtime_;
  std::vector<Figure> figures_;
  std::vector<VariablePtr> states_;
};

}  // namespace gpubench
