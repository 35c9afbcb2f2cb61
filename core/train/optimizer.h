// Turns gradients into updates of variables. All variables of one device and type are updated by one multi-tensor op.
// Step counter, learning rate and slots are variables, so that a planned graph never changes.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/exec/runtime.h"
#include "core/graph/graph.h"
#include "core/nn/config.h"
#include "core/nn/initializer.h"
#include "core/ops/optimizer.h"

namespace gpubench {

/// A learning rate as a function of the step counter, computed inside the graph.
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
/// In the order of their names.
const std::vector<ScheduleKind>& schedule_kinds();
/// Throws Error listing the names.
SchedulePtr make_schedule(std::string_view name, const ConfigEntries& options);
/// values[i] up to and including step boundaries[i], then the last value. Throws Error for other numbers of values than
/// one more than boundaries, and for boundaries that do not rise.
SchedulePtr make_piecewise_constant_decay(std::span<const double> boundaries, std::span<const double> values);
/// Adds nodes for the float32 step that compute one floating-point number; made from a traced script function.
using StepGraphFunction = std::function<Value(Graph& graph, Value step)>;
SchedulePtr make_traced_schedule(StepGraphFunction function);

class Optimizer {
 public:
  /// `schedule` replaces the learning_rate option when it is not null.
  Optimizer(Config config, SchedulePtr schedule);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// "adam".
  const std::string& name() const { return config_.owner(); }
  const Config& config() const { return config_; }

  /// Creates the step counter, the learning rate and the slots of variables that have none yet. Throws Error for
  /// variables of another model than those before: all that are known must be among them, or there are no new ones.
  void build(VariableFactory& factory, std::span<const VariablePtr> variables);
  /// Variables whose name contains one of the texts are not decayed: for weights that weight_decay should not pull to
  /// 0, such as biases. Throws Error after build().
  void exclude_from_weight_decay(std::vector<std::string> texts);
  /// Variables whose name contains one of the texts have the learning rate times `factor`; of several calls the last
  /// that names a variable holds. Throws Error after build() and for a factor that is negative or not finite; build()
  /// throws where a text is in no name.
  void multiply_learning_rate(std::vector<std::string> texts, double factor);
  /// What exclude_from_weight_decay() and multiply_learning_rate() have set in another optimizer.
  void take_groups_of(const Optimizer& other);

  /// Adds the update to `graph`, with one gradient per variable, none if the loss does not depend on it. The variables
  /// must have been passed to build(). If the bool[] `found_infinity` is given and true at run time, nothing changes,
  /// not even the step counter. Throws Error if no variable has a gradient, or a gradient's type differs.
  void apply_gradients(Graph& graph, Values gradients, std::span<const VariablePtr> variables,
                       Value found_infinity = {}) const;

  /// int64 scalar: number of updates, without skipped ones. Null before build().
  const VariablePtr& iterations() const { return iterations_; }
  /// float32 scalar; null before build() and with a schedule.
  const VariablePtr& learning_rate() const { return learning_rate_; }
  const SchedulePtr& schedule() const { return schedule_; }
  /// Step counter, learning rate and the slots of `variables`, in a fixed order.
  std::vector<VariablePtr> state_of(std::span<const VariablePtr> variables) const;
  /// The moving average of a variable; null without use_ema.
  VariablePtr average_of(const VariablePtr& variable) const;

 protected:
  /// Names of the slots that each variable needs, and the number that they begin with.
  virtual std::vector<std::string> slot_names() const = 0;
  virtual double slot_start() const { return 0; }
  /// By slot, then by variable.
  using Slots = std::vector<std::vector<Value>>;
  /// Scalars that an update node reads, and how it uses them.
  struct Scalars {
    Value learning_rate, step;
    ops::UpdateControl control;
    bool decays = true;  ///< whether weight decay applies to the node's variables
  };
  /// Adds one update node.
  virtual void update(Graph& graph, const Scalars& scalars, Values variables, Values gradients,
                      const Slots& slots) const = 0;

 private:
  struct OwnedSlots {
    std::weak_ptr<const Variable> of;  // weak, so that a model's memory is not kept alive
    std::vector<VariablePtr> slots;
  };
  bool is_known(const VariablePtr& variable) const;
  void require_one_model(std::span<const VariablePtr> variables) const;
  const OwnedSlots& slots_of(const VariablePtr& variable) const;
  /// The variables of one update op have the same device, type and learning rate, and are all decayed or not.
  struct Place {
    DeviceId device;
    Dtype dtype;
    bool decays;
    double rate;  ///< factor of the learning rate
    bool operator==(const Place&) const = default;
  };
  Place place_of(const Variable& variable) const;
  void require_named(std::span<const VariablePtr> variables) const;
  /// The sum of squares of all gradients, on the step counter's device.
  Value global_squares(Graph& graph, std::span<const Place> places, Values gradients,
                       std::span<const VariablePtr> variables) const;
  void update_place(Graph& graph, const Place& place, const Scalars& scalars, Values gradients,
                    std::span<const VariablePtr> variables) const;
  /// Adds what moves the averages of all variables, and puts them into these from time to time.
  void average(Graph& graph, const Scalars& scalars, std::span<const VariablePtr> variables) const;

  /// Variables with a learning rate of their own.
  struct RateGroup {
    std::vector<std::string> texts;
    double factor;
  };
  Config config_;
  SchedulePtr schedule_;
  GradientClip clip_;
  bool averages_ = false;
  double average_momentum_ = 0;
  std::int64_t overwrite_frequency_ = 0;  ///< 0: never
  std::vector<std::string> not_decayed_;
  std::vector<RateGroup> rates_;
  OwnerPtr owner_;
  VariablePtr iterations_, learning_rate_;
  std::vector<OwnedSlots> slots_;
};
using OptimizerPtr = std::shared_ptr<Optimizer>;

/// That of the next update: what the schedule gives, or the value of the variable, before build() of the option.
double learning_rate(Runtime& runtime, const Optimizer& optimizer);
/// For the following updates. Throws Error for a rate that is negative or NaN, and if a schedule sets it.
void set_learning_rate(Runtime& runtime, const Optimizer& optimizer, double rate);

/// Puts the moving averages of variables into these, as at the end of a training; nothing without use_ema, or before
/// the first step.
void take_averages(Runtime& runtime, const Optimizer& optimizer, std::span<const VariablePtr> variables);

struct OptimizerKind {
  std::string name;
  std::vector<ConfigField> fields;
  OptimizerPtr (*make)(Config config, SchedulePtr schedule);
};
/// In the order of their names.
const std::vector<OptimizerKind>& optimizer_kinds();
/// Case does not matter, as in Keras. Throws Error listing the names.
OptimizerPtr make_optimizer(std::string_view name, const ConfigEntries& options = {}, SchedulePtr schedule = nullptr);

}  // namespace gpubench
