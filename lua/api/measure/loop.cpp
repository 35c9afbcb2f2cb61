// gb.measure.loop: how fast a training loop written by hand is, compiled or not, as a row of results.
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/interrupt.h"
#include "core/base/value_scope.h"
#include "core/data/tune/pipeline.h"
#include "core/exec/step_fence.h"
#include "core/experiment/steps/step_measurement.h"
#include "core/experiment/training/script_facts.h"
#include "lua/api/data/pipeline.h"
#include "lua/api/device_facts.h"
#include "lua/api/measure/limits.h"
#include "lua/api/openers.h"
#include "lua/api/results/measured.h"
#include "lua/api/results_values.h"
#include "lua/api/tensor/graph_function.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Calls a Lua function (or any callable value) with the tensors of each element, and keeps its last result.
class LoopSteps final : public StepSource {
 public:
  LoopSteps(lua_State* L, LuaFunction function, const Dataset& dataset)
      : L_(L),
        function_(std::move(function)),
        epochs_([&](std::uint64_t epoch) { return open_pipeline(dataset, epoch, {.on_devices = true}); },
                "measure.loop") {
    const Devices& devices = world_of(L).devices;
    for (const DeviceId& id : devices.ids()) fence_.add_once_used(devices.device(id));
  }

  void step() override {
    check_interrupt();
    epochs_.advance([this](Cursor& cursor) { return cursor.next(element_); });
    const HostTensor& first = element_.front();
    examples_ = first.shape().empty() ? 1 : first.shape()[0];
    fetched_ = Clock::now();
    fence_.begin_step();
    call();
    fence_.end_step();
    if (has_one_strategy()) examples_ = std::llround(static_cast<double>(examples_) * replica_steps_[0].rows_of_all);
  }
  Epochs* epochs() override { return &epochs_; }
  int steps_in_flight() const override { return fence_.empty() ? 0 : StepFence::steps_in_flight; }
  std::int64_t examples() const override { return examples_; }
  Clock::time_point fetched() const override { return fetched_; }
  /// The replicas of the only strategy whose strategy:run the loop calls.
  ReplicaWatch* replicas() override {
    if (has_one_strategy() && !watch_) watch_.emplace(*replica_steps_[0].replicas);
    return watch_ && has_one_strategy() ? &*watch_ : nullptr;
  }
  std::size_t strategies() const { return replica_steps_.size(); }
  /// The first result of the latest step; empty when it was no scalar tensor or number.
  std::optional<double> loss() const { return loss_ ? std::optional(read_loss()) : std::nullopt; }

 private:
  bool has_one_strategy() const { return replica_steps_.size() == 1; }

  void call() {
    const int bottom = lua_gettop(L_);
    luaL_checkstack(L_, static_cast<int>(element_.size()) + 8, "step of a loop");
    function_.reference().push(L_);
    push_element(L_, element_);
    {
      const SpanScope calling(world_of(L_).runtime.spans(), SpanClass::host_compute, "Lua function of the loop");
      protected_call(L_, static_cast<int>(element_.size()), 1);
    }
    const bool scalar = Value<Tensor>::matches(L_, -1) && Value<Tensor>::read(L_, -1).type().elements() == 1;
    loss_ = scalar ? Value<Tensor>::read(L_, -1) : Tensor();
    lua_settop(L_, bottom);
  }

  double read_loss() const { return element_as_double(download(L_, loss_), 0); }

  lua_State* L_;
  LuaFunction function_;
  Epochs epochs_;
  Element element_;
  std::int64_t examples_ = 0;
  Clock::time_point fetched_{};
  Tensor loss_;
  StepFence fence_;
  std::vector<ReplicaSteps> replica_steps_;
  const ValueScope<std::vector<ReplicaSteps>*> recording_{session_of(L_).replica_steps, &replica_steps_};
  std::optional<ReplicaWatch> watch_;
};

/// Sets the device of the steps; for replicas the measurement has set it.
void describe_place(Record& record, const LoopSteps& steps, const DeviceId& device) {
  if (record.has("replicas")) return;
  record.set("device", to_string(device));
  if (steps.strategies() == 0) {
    record.set("replicas", std::int64_t{1});
    return;
  }
  record.set("communication_share", Cell{});  // a part of the host's and the launches' time
  record.set("detail", fmt::format("no columns of replicas: {} strategies run in the loop", steps.strategies()));
}

/// gb.measure.loop(fn, dataset, options): the row of gb.measure.training, without what only a model knows. `last_loss`
/// is what the latest call returned.
int loop(lua_State* L) {
  const auto function = Value<LuaFunction>::read(L, 1);
  const PassOptions* const passes = passes_of_compiled(L, 1);
  const auto dataset = Value<DatasetPtr>::read(L, 2);
  const StepLimits limits = Value<ProfiledTable>::read(L, 3).limits(L);
  const WorldPtr kept =
      session_of(L).placement.world();  // an experiment that the function declares replaces the session's
  World& world = *kept;
  LoopSteps steps(L, function, *dataset);
  StepMeasurement measured = measure_steps(steps, world.runtime, limits, "measure.loop");
  set_steps_of(measured.record, StepsOf::loop);
  if (passes != nullptr) {
    measured.record.set("execution", std::string(to_string(Execution::graph)));
    set_passes(measured.record, *passes);
  }
  set_stages(measured.record, *dataset);
  describe_place(measured.record, steps, world.dispatcher.device());
  if (const std::optional<double> loss = steps.loss()) measured.record.set("last_loss", *loss);
  set_verdict(world, measured.record);
  Value<Record>::push(L, measured.record);
  set_measured(L, measured.samples, measured.timeline, measured.profile);
  set_ranks(L, measured.ranks);
  return 1;
}

}  // namespace

void open_measure_loop(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&loop, 3>("loop");
}

}  // namespace gpubench::lua
