// gb.measure.inference: how fast a model answers, as a row of results.
#include "core/experiment/inference/inference.h"

#include <algorithm>
#include <optional>

#include "lua/api/data/dataset.h"
#include "lua/api/device_facts.h"
#include "lua/api/measure/limits.h"
#include "lua/api/measure/model_peak.h"
#include "lua/api/openers.h"
#include "lua/api/results/measured.h"
#include "lua/api/results_values.h"
#include "lua/api/tensor/pass_options.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {
namespace {

/// Absent options come from compile (execution, passes) and from the command line (--budget, --quick).
struct InferenceTable {
  std::int64_t batch = 1, concurrency = 1;
  std::optional<double> duration;
  std::string mode = "single_stream";
  std::optional<std::string> execution;
  std::optional<PassSwitches> passes;
  std::optional<DatasetPtr> input;
  std::optional<bool> trace;
  static constexpr auto fields =
      std::tuple{field("batch", &InferenceTable::batch),         field("concurrency", &InferenceTable::concurrency),
                 field("duration", &InferenceTable::duration),   field("mode", &InferenceTable::mode),
                 field("execution", &InferenceTable::execution), field("passes", &InferenceTable::passes),
                 field("input", &InferenceTable::input),         field("trace", &InferenceTable::trace)};
};

InferenceOptions inference_options(lua_State* L, const ScriptModel& model, const InferenceTable& table) {
  constexpr double usual_share = 0.5;  // of the budget; the rest is for the queries that a percentile still lacks
  Session& session = session_of(L);
  InferenceOptions options;
  options.mode = parse_inference_mode(table.mode);
  options.batch = table.batch;
  options.concurrency = table.concurrency;
  options.input = table.input.value_or(nullptr);
  options.executor = model.trainer()->config().executor;
  if (table.execution) options.executor.execution = parse_execution(*table.execution);
  if (table.passes) options.executor.passes = table.passes->options();
  const double budget = session.budgets.measuring_s();
  options.duration = Seconds(table.duration.value_or(usual_share * budget));
  options.budget = Seconds(std::max(budget, table.duration.value_or(0)));
  MeasureTable common;
  common.trace = table.trace;
  const StepLimits limits = common.limits(L);
  options.warmup = limits.warmup;
  options.trace = limits.trace;
  options.activity = &session.activity;
  options.scatter = session.budgets.scatter();
  options.best = best_rates(session, *model.model);
  return options;
}

/// gb.measure.inference(model, options): { examples_per_s = , latency_s = , ..., samples = { ... } }
int inference(lua_State* L) {
  const auto model = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const InferenceOptions options = inference_options(L, *model, Value<InferenceTable>::read(L, 2));
  InferenceMeasurement measured = measure_inference(*model->trainer(), options);
  set_verdict(world_of(L), measured.record);
  Value<Record>::push(L, measured.record);
  set_measured(L, measured.samples, measured.timeline);
  return 1;
}

}  // namespace

void open_measure_inference(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&inference, 2>("inference");
}

}  // namespace gpubench::lua
