// Learning rates that follow the step counter, computed inside the graph.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/nn/config.h"

namespace gpubench {

class Schedule {
 public:
  virtual ~Schedule() = default;
  /// float32 scalar for the int64 scalar `step`, which counts from 0.
  virtual Value call(Graph& graph, Value step) const = 0;
};
using SchedulePtr = std::shared_ptr<const Schedule>;

struct ScheduleKind {
  std::string name;
  std::vector<std::string> positional;
  std::vector<ConfigField> fields;
  SchedulePtr (*make)(const Config& config);
};
/// cosine_decay, exponential_decay.
const std::vector<ScheduleKind>& schedule_kinds();
/// Throws Error listing the names.
SchedulePtr make_schedule(std::string_view name, const ConfigEntries& options);

}  // namespace gpubench
