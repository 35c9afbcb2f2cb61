// The schedules of the learning rate, with Keras' names, and the list of them.
#include <fmt/format.h>
#include <limits>

#include "core/base/known_names.h"
#include "core/ops/state.h"
#include "core/train/optimizer.h"

namespace gpubench {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

class CosineDecaySchedule final : public Schedule {
 public:
  explicit CosineDecaySchedule(const Config& config)
      : initial_(config.number_within("initial_learning_rate", 0, no_limit)),
        steps_(config.integer_from("decay_steps", 1)),
        alpha_(config.number_within("alpha", 0, no_limit)) {}
  Value call(Graph& graph, Value step) const override {
    return ops::cosine_decay(graph, step, initial_, static_cast<double>(steps_), alpha_);
  }

 private:
  double initial_;
  std::int64_t steps_;
  double alpha_;
};

class ExponentialDecaySchedule final : public Schedule {
 public:
  explicit ExponentialDecaySchedule(const Config& config)
      : initial_(config.number_within("initial_learning_rate", 0, no_limit)),
        steps_(config.integer_from("decay_steps", 1)),
        rate_(config.number_within("decay_rate", 0, no_limit)),
        staircase_(config.flag("staircase")) {}
  Value call(Graph& graph, Value step) const override {
    return ops::exponential_decay(graph, step, initial_, static_cast<double>(steps_), rate_, staircase_);
  }

 private:
  double initial_;
  std::int64_t steps_;
  double rate_;
  bool staircase_;
};

template <class T>
SchedulePtr construct_schedule(const Config& config) {
  return std::make_shared<const T>(config);
}

}  // namespace

const std::vector<ScheduleKind>& schedule_kinds() {
  static const std::vector<ScheduleKind> kinds = {
      {"cosine_decay",
       {"initial_learning_rate", "decay_steps"},
       {{"initial_learning_rate", 0.0, true}, {"decay_steps", std::int64_t{0}, true}, {"alpha", 0.0}},
       &construct_schedule<CosineDecaySchedule>},
      {"exponential_decay",
       {"initial_learning_rate", "decay_steps", "decay_rate"},
       {{"initial_learning_rate", 0.0, true},
        {"decay_steps", std::int64_t{0}, true},
        {"decay_rate", 0.0, true},
        {"staircase", false}},
       &construct_schedule<ExponentialDecaySchedule>},
  };
  return kinds;
}

SchedulePtr make_schedule(std::string_view name, const ConfigEntries& options) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    if (kind.name == name) return kind.make(Config(kind.name, kind.fields, options));
  }
  throw_unknown_name("unknown schedule", name, names_of(schedule_kinds(), &ScheduleKind::name));
}

}  // namespace gpubench
