#include "core/train/monitor.h"

#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {

Monitor::Monitor(std::string owner, std::string figure, const std::string& mode, double min_delta)
    : owner_(std::move(owner)), figure_(std::move(figure)), min_delta_(std::abs(min_delta)) {
  if (mode != "auto" && mode != "min" && mode != "max") {
    throw Error(fmt::format("{}: mode must be 'auto', 'min' or 'max', got '{}'", owner_, mode));
  }
  const bool named_after_accuracy = figure_.ends_with("accuracy") || figure_.ends_with("acc");
  larger_is_better_ = mode == "max" || (mode == "auto" && named_after_accuracy);
}

bool Monitor::improves(const Logs& logs) {
  const double* now = find_log(logs, figure_);
  if (now == nullptr) {
    std::string names;
    for (const auto& [name, value] : logs) names += (names.empty() ? "" : ", ") + name;
    const bool validation = figure_.starts_with("val_");
    throw Error(fmt::format("{}: there is no figure '{}' to monitor (there are: {}){}", owner_, figure_, names,
                            validation ? "; figures of validation need validation_data" : ""));
  }
  if (std::isnan(*now)) return false;
  const double gain = larger_is_better_ ? *now - best_.value_or(*now) : best_.value_or(*now) - *now;
  if (best_ && !(gain > min_delta_)) return false;
  best_ = *now;
  return true;
}

}  // namespace gpubench
