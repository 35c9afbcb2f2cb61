// The schedules of the learning rate, with Keras' names, and the list of them: adding one is a function object in
// core/math/schedule.h and a row.
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/ops/cast.h"
#include "core/ops/state.h"
#include "core/train/optimizer.h"

namespace gpubench {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

template <class F>
class StepFunction final : public Schedule {
 public:
  explicit StepFunction(const F& function) : function_(function) {}
  Value call(Graph& graph, Value step) const override {
    return graph.apply(std::make_shared<const ScheduleOp<F>>(function_), {step});
  }

 private:
  F function_;
};

template <class F>
SchedulePtr schedule_of(const F& function) {
  return std::make_shared<const StepFunction<F>>(function);
}

double rate_of(const Config& config, std::string_view name) {
  return config.number_within(name, 0, no_limit);
}

double steps_of(const Config& config, std::string_view name = "decay_steps") {
  return static_cast<double>(config.integer_from(name, 1));
}

SchedulePtr make_cosine_decay(const Config& config) {
  const double initial = rate_of(config, "initial_learning_rate");
  const auto warmup = static_cast<double>(config.integer_from("warmup_steps", 0));
  const bool warms = !std::isnan(config.number("warmup_target"));
  if (!warms && warmup > 0) {
    throw Error(
        fmt::format("{}: warmup_steps needs warmup_target, the rate that the warm-up ends with", config.owner()));
  }
  const double peak = warms ? rate_of(config, "warmup_target") : initial;
  return schedule_of(math::CosineDecay{initial, steps_of(config), rate_of(config, "alpha"), peak, warmup});
}

SchedulePtr make_cosine_decay_restarts(const Config& config) {
  const double t_mul = config.number("t_mul");
  if (!(t_mul >= 1) || std::isinf(t_mul)) {
    throw Error(fmt::format("{}: t_mul must be at least 1, got {}", config.owner(), t_mul));
  }
  return schedule_of(math::CosineDecayRestarts{rate_of(config, "initial_learning_rate"),
                                               steps_of(config, "first_decay_steps"), t_mul, rate_of(config, "m_mul"),
                                               rate_of(config, "alpha")});
}

template <class Decay>
SchedulePtr make_periodic_decay(const Config& config) {
  return schedule_of(Decay{{.initial = rate_of(config, "initial_learning_rate"),
                            .steps = steps_of(config),
                            .rate = rate_of(config, "decay_rate"),
                            .staircase = config.flag("staircase")}});
}

SchedulePtr make_polynomial_decay(const Config& config) {
  return schedule_of(math::PolynomialDecay{rate_of(config, "initial_learning_rate"), steps_of(config),
                                           rate_of(config, "end_learning_rate"), rate_of(config, "power"),
                                           config.flag("cycle")});
}

class TracedSchedule final : public Schedule {
 public:
  explicit TracedSchedule(StepGraphFunction function) : function_(std::move(function)) {}
  Value call(Graph& graph, Value step) const override {
    const Value rate = function_(graph, ops::cast(graph, step, Dtype::f32));
    if (graph.type(rate).shape.empty() && is_floating(graph.type(rate).dtype))
      return ops::cast(graph, rate, Dtype::f32);
    throw Error(fmt::format("learning_rate: the function of the step must return one floating-point number, got {}",
                            to_string(graph.type(rate))));
  }

 private:
  StepGraphFunction function_;
};

}  // namespace

const std::vector<ScheduleKind>& schedule_kinds() {
  static const ConfigField initial{"initial_learning_rate", 0.0, true}, steps{"decay_steps", std::int64_t{0}, true};
  static const std::vector<ScheduleKind> kinds = {
      {"cosine_decay",
       {"initial_learning_rate", "decay_steps", "alpha"},
       {initial, steps, {"alpha", 0.0}, {"warmup_target", not_given}, {"warmup_steps", std::int64_t{0}}},
       &make_cosine_decay},
      {"cosine_decay_restarts",
       {"initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha"},
       {initial, {"first_decay_steps", std::int64_t{0}, true}, {"t_mul", 2.0}, {"m_mul", 1.0}, {"alpha", 0.0}},
       &make_cosine_decay_restarts},
      {"exponential_decay",
       {"initial_learning_rate", "decay_steps", "decay_rate", "staircase"},
       {initial, steps, {"decay_rate", 0.0, true}, {"staircase", false}},
       &make_periodic_decay<math::ExponentialDecay>},
      {"inverse_time_decay",
       {"initial_learning_rate", "decay_steps", "decay_rate", "staircase"},
       {initial, steps, {"decay_rate", 0.0, true}, {"staircase", false}},
       &make_periodic_decay<math::InverseTimeDecay>},
      {"polynomial_decay",
       {"initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle"},
       {initial, steps, {"end_learning_rate", 0.0001}, {"power", 1.0}, {"cycle", false}},
       &make_polynomial_decay},
  };
  return kinds;
}

SchedulePtr make_schedule(std::string_view name, const ConfigEntries& options) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    if (kind.name == name) return kind.make(Config(kind.name, kind.fields, options));
  }
  throw_unknown_name("unknown schedule", name, names_of(schedule_kinds(), &ScheduleKind::name), "", "schedule");
}

SchedulePtr make_piecewise_constant_decay(std::span<const double> boundaries, std::span<const double> values) {
  constexpr std::string_view owner = "piecewise_constant_decay";
  constexpr std::size_t most = math::PiecewiseConstant::capacity;
  if (values.size() != boundaries.size() + 1) {
    throw Error(fmt::format("{}: {} boundaries need {} values, got {}", owner, boundaries.size(), boundaries.size() + 1,
                            values.size()));
  }
  if (boundaries.size() > most) {
    throw Error(fmt::format("{}: at most {} boundaries are possible, got {}", owner, most, boundaries.size()));
  }
  math::PiecewiseConstant pieces{.count = static_cast<int>(boundaries.size()), .boundaries = {}, .values = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0 && std::isfinite(values[i]))) {
      throw Error(fmt::format("{}: values must be at least 0, got {}", owner, values[i]));
    }
    pieces.values[i] = values[i];
  }
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    if (i > 0 && !(boundaries[i] > boundaries[i - 1])) {
      throw Error(fmt::format("{}: boundaries must rise, got {} after {}", owner, boundaries[i], boundaries[i - 1]));
    }
    pieces.boundaries[i] = boundaries[i];
  }
  return schedule_of(pieces);
}

SchedulePtr make_traced_schedule(StepGraphFunction function) {
  return std::make_shared<const TracedSchedule>(std::move(function));
}

}  // namespace gpubench
