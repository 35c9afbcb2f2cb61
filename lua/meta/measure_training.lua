---@meta
-- Measuring a training.

---@class gpubench
local gb = {}

gb.measure = {}

---@class MeasureTrainingOptions
---@field budget number? seconds of measuring; --budget unless given
---@field min_time number? seconds to measure at least, no more than the budget; 0.3 (or a shorter budget) unless given
---@field warmup number? seconds of warming up at most, but six steps or more where they are long; 0.5 unless given
---@field relative_error number? wanted half-width of the median's interval, as a share; 0.01 unless given
---@field trace boolean? on GPUs a few more steps are traced after the timing, which fills the shares, device_busy and what
--- replicas on GPUs spend on each other; true writes trace-<point>.json for chrome://tracing or Perfetto into the run's folder too, false leaves it all out

---@class MeasureResidentOptions: MeasureTrainingOptions
---@field resident boolean? the first two batches stay on the device and all steps train on them: what a step takes without its input

--- Steps through the dataset again and again: warms up until step times settle, then measures until they are known
--- precisely enough or the budget is spent. Returns the standard columns and `samples`, every step time in seconds. Where
--- buffers that were filled before would distort the rate, measuring begins and ends with an epoch, for up to twice the
--- budget, and `quality` is unreliable where none fits. Of a model with replicas `ranks` says what each spends on what.
--- `verdict` says why the device was not busy, as `gpubench explain` does of a run.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy", metrics = { "accuracy" } }
--- local input = gb.datasets.mnist("train"):batch(32)
--- local row = gb.measure.training(model, input, { budget = 0.1 })
--- assert(row.examples_per_s > 0 and row.batch_size == 32 and #row.samples == row.steps)
--- ```
---@param model Model
---@param dataset Dataset
---@param options MeasureResidentOptions?
---@return table
function gb.measure.training(model, dataset, options) end

return gb
