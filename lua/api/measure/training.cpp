// gb.measure.training: how fast a compiled model trains on a dataset, as a row of results; gb.measure.input_proof: what
// of that its input costs.
#include "core/experiment/training/training.h"

#include <fmt/format.h>

#include "core/experiment/training/input_proof.h"
#include "lua/api/data/dataset.h"
#include "lua/api/device_facts.h"
#include "lua/api/measure/limits.h"
#include "lua/api/measure/model_peak.h"
#include "lua/api/openers.h"
#include "lua/api/results/measured.h"
#include "lua/api/results_values.h"
#include "lua/api/train/model.h"
#include "lua/api/train/strategy.h"

namespace gpubench::lua {
namespace {

/// For run.json: what `mfu` relates to.
int matmul_peaks(lua_State* L) {
  Info::Fields peaks;
  for (const auto& [key, flops_per_s] : session_of(L).matmul_peak.known())
    peaks.emplace_back(fmt::format("{}, {}", key.first, to_string(key.second)), Info(flops_per_s));
  Value<Info>::push(L, Info(std::move(peaks)));
  return 1;
}

/// The options of every measurement of steps, and what training adds to them.
struct TrainingTable : ProfiledTable {
  bool resident = false;  ///< the first batches stay on the device, and all steps train on them
  static constexpr auto fields =
      std::tuple_cat(ProfiledTable::fields, std::tuple{field("resident", &TrainingTable::resident)});
};

TrainingOptions training_options(lua_State* L, const ScriptModel& model, const TrainingTable& table) {
  Session& session = session_of(L);
  TrainingOptions options;
  options.limits = table.limits(L);
  options.resident = table.resident;
  options.best = best_rates(session, *model.model);
  for (std::optional<double>* const rate : {&options.best.flops_per_s, &options.best.bytes_per_s})
    if (*rate && model.replicas) **rate *= model.replicas->world_size();
  return options;
}

/// gb.measure.training(model, dataset, options): { examples_per_s = , step_time_s = , ..., samples = { ... } }
int training(lua_State* L) {
  const auto model = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const auto dataset = Value<DatasetPtr>::read(L, 2);
  const TrainingOptions options = training_options(L, *model, Value<TrainingTable>::read(L, 3));
  const DatasetPtr part = part_of_process(model->replicas.get(), dataset);
  TrainingMeasurement measured = measure_training(*model->trainer(), *part, options);
  set_verdict(world_of(L), measured.record);
  Value<Record>::push(L, measured.record);
  set_measured(L, measured.samples, measured.timeline, measured.profile);
  set_ranks(L, measured.ranks);
  return 1;
}

/// gb.measure.input_proof(model, dataset, options): the row of gb.measure.training, with what its input costs.
int input_proof(lua_State* L) {
  const auto model = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const auto dataset = Value<DatasetPtr>::read(L, 2);
  const auto table = Value<TrainingTable>::read(L, 3);
  if (table.profile)
    throw ArgumentError(
        "option 'profile': input_proof measures several trainings; profile one with gb.measure.training");
  const TrainingOptions options = training_options(L, *model, table);
  const DatasetPtr part = part_of_process(model->replicas.get(), dataset);
  InputProof proof = prove_input(*model->trainer(), *part, options);
  set_verdict(world_of(L), proof.record);
  Value<Record>::push(L, proof.record);
  set_measured(L, proof.samples, nullptr);
  return 1;
}

struct ProfileTable {
  std::int64_t steps = 10;
  static constexpr auto fields = std::tuple{field("steps", &ProfileTable::steps)};
};

}  // namespace

/// model:profile(dataset, options): { step_s = , layers = { ... }, ..., text = "..." }
int profile_model(lua_State* L) {
  const auto model = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const auto dataset = Value<DatasetPtr>::read(L, 2);
  const auto table = Value<ProfileTable>::read(L, 3);
  constexpr std::int64_t most_steps = 1000;
  if (table.steps < 1 || table.steps > most_steps)
    throw ArgumentError(fmt::format("option 'steps': 1 to {} are expected, got {}", most_steps, table.steps));
  const DatasetPtr part = part_of_process(model->replicas.get(), dataset);
  push_profile(L, profile_training(*model->trainer(), *part, static_cast<int>(table.steps), "profile"));
  return 1;
}

void open_measure_training(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&training, 3>("training").function<&input_proof, 3>("input_proof");
  gb.submodule("_native").function<&matmul_peaks, 0>("matmul_peaks");
}

}  // namespace gpubench::lua
