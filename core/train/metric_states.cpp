#include "core/train/metric_states.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench {

const double* find_log(const Logs& logs, std::string_view name) {
  const auto found = std::find_if(logs.begin(), logs.end(), [name](const auto& log) { return log.first == name; });
  return found == logs.end() ? nullptr : &found->second;
}

std::string names_of_logs(const Logs& logs) {
  std::string names;
  for (const auto& [name, value] : logs) names += (names.empty() ? "" : ", ") + name;
  return names;
}

MetricStates::MetricStates(Runtime& runtime, VariableFactory& factory, std::vector<Figure> figures,
                           const DeviceId& device)
    : runtime_(runtime), figures_(std::move(figures)) {
  const OwnerPtr owner = make_owner("metrics");
  for (const Figure& figure : figures_) {
    const HostTensor zeros = HostTensor::zeros({{figure.size}, Dtype::f32});
    states_.push_back(figure.state ? figure.state
                                   : factory.create("metrics/" + figure.name, zeros, device, false, owner));
  }
}

void MetricStates::reset() {
  runtime_.synchronize();
  for (const VariablePtr& state : states_) runtime_.variables().write(*state, HostTensor::zeros(state->type));
}

std::vector<HostTensor> MetricStates::values() const {
  runtime_.synchronize();
  std::vector<HostTensor> values;
  for (const VariablePtr& state : states_) values.push_back(runtime_.variables().read(*state));
  return values;
}

void MetricStates::set_values(const std::vector<HostTensor>& values) {
  runtime_.synchronize();
  for (std::size_t i = 0; i < states_.size(); ++i) runtime_.variables().write(*states_[i], values[i]);
}

Logs MetricStates::read() const {
  runtime_.synchronize();
  Logs logs;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const HostTensor state = runtime_.variables().read(*states_[i]);
    const std::vector<double> results = results_of(figures_[i].metric.get(), state.values<float>());
    for (std::size_t k = 0; k < results.size(); ++k) {
      const std::string& name = figures_[i].name;
      logs.emplace_back(results.size() == 1 ? name : fmt::format("{}[{}]", name, k + 1), results[k]);
    }
  }
  return logs;
}

}  // namespace gpubench
