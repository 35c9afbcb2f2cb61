// gb.measure.training: how fast a compiled model trains on a dataset, as a row of results.
#include "core/experiment/training.h"
#include "lua/api/dataset.h"
#include "lua/api/model.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"

namespace gpubench::lua {
namespace {

/// Times of a measurement with --quick, as a share of the ordinary ones.
constexpr double quick_share = 0.25;

struct TrainingTable {
  std::optional<double> budget, min_time, warmup, relative_error;
  static constexpr auto fields =
      std::tuple{field("budget", &TrainingTable::budget), field("min_time", &TrainingTable::min_time),
                 field("warmup", &TrainingTable::warmup), field("relative_error", &TrainingTable::relative_error)};
};

TrainingOptions training_options(const SessionOptions& session, const TrainingTable& table) {
  TrainingOptions options;
  options.stopping.budget = Seconds(table.budget.value_or(session.budget_s));
  const double share = session.quick ? quick_share : 1;
  options.stopping.min_time = Seconds(table.min_time.value_or(options.stopping.min_time.count() * share));
  options.stopping.min_time = std::min(options.stopping.min_time, options.stopping.budget);
  options.warmup.max_time = Seconds(table.warmup.value_or(options.warmup.max_time.count() * share));
  if (table.relative_error) options.stopping.relative_error = *table.relative_error;
  return options;
}

/// gb.measure.training(model, dataset, options): { examples_per_s = , step_time_s = , ..., samples = { ... } }
int training(lua_State* L) {
  const auto model = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const auto dataset = Value<DatasetPtr>::read(L, 2);
  const auto table = Value<TrainingTable>::read(L, 3);
  Session& session = session_of(L);
  TrainingOptions options = training_options(session.options(), table);
  const DeviceId& id = model->model->layers().back()->device();
  const Devices& devices = model->world->devices;
  options.best_flops_per_s = session.matmul_peak().flops_per_s(devices.device(id), devices.backend(id), Dtype::f32);
  const TrainingMeasurement measured = measure_training(*model->trainer, *dataset, options);
  Value<Record>::push(L, measured.record);
  Value<std::vector<double>>::push(L, measured.samples);
  lua_setfield(L, -2, "samples");
  return 1;
}

}  // namespace

void open_measure_training(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&training>("training");
}

}  // namespace gpubench::lua
