#include "core/train/metric_states.h"

#include <algorithm>

namespace gpubench {

const double* find_log(const Logs& logs, std::string_view name) {
  const auto found = std::find_if(logs.begin(), logs.end(), [name](const auto& log) { return log.first == name; });
  return found == logs.end() ? nullptr : &found->second;
}

MetricStates::MetricStates(Runtime& runtime, VariableFactory& factory, const std::vector<std::string>& names,
                           const DeviceId& device)
    : runtime_(runtime), names_(names) {
  const OwnerPtr owner = make_owner("metrics");
  for (const std::string& name : names_) {
    states_.push_back(factory.create("metrics/" + name, HostTensor::zeros({{2}, Dtype::f32}), device, false, owner));
  }
}

void MetricStates::reset() {
  const HostTensor zeros = HostTensor::zeros({{2}, Dtype::f32});
  runtime_.synchronize();
  for (const VariablePtr& state : states_) runtime_.variables().write(*state, zeros);
}

Logs MetricStates::read() const {
  runtime_.synchronize();
  Logs logs;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const HostTensor state = runtime_.variables().read(*states_[i]);
    const auto values = state.values<float>();
    const bool saw_nothing = values[1] <= 0;  // the count of an emulated device is not a number, and so is the mean
    if (!saw_nothing) logs.emplace_back(names_[i], static_cast<double>(values[0]) / static_cast<double>(values[1]));
  }
  return logs;
}

}  // namespace gpubench
