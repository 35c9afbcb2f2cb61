// gb.measure.pipeline: how fast a dataset is without a model, as a row of results with a table of its stages.
#include "lua/api/data/pipeline.h"

#include <vector>

#include "core/experiment/training/pipeline_measurement.h"
#include "lua/api/data/dataset.h"
#include "lua/api/measure/limits.h"
#include "lua/api/openers.h"
#include "lua/api/results/measured.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// gb.measure.pipeline(dataset, options): { elements_per_s = , ..., samples = { ... }, stages = { { stage = , ... } } }
int pipeline(lua_State* L) {
  const auto dataset = Value<DatasetPtr>::read(L, 1);
  const StepLimits limits = Value<MeasureTable>::read(L, 2).limits(L);
  const PipelineMeasurement measured = measure_pipeline(*dataset, {limits.stopping, limits.warmup, limits.scatter});
  Value<Record>::push(L, measured.record);
  set_measured(L, measured.samples, nullptr);
  push_stages(L, measured.stages);
  lua_setfield(L, -2, "stages");
  return 1;
}

}  // namespace

void open_measure_pipeline(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&pipeline, 2>("pipeline");
}

}  // namespace gpubench::lua
