---@meta
-- Input pipelines measured by themselves, and proofs of what they cost a training.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class PipelineRow: Row
---@field elements_per_s number
---@field bytes_per_s number
---@field first_element_s number from opening the pipeline to its first element
---@field samples number[] seconds an element, each over a window of some milliseconds
---@field stages StageStatistics[] sources first; unlike those of Dataset:stats(), sums over all epochs since measuring began (workers and buffers: as they were at the end)

--- Takes the elements of `dataset`, epoch after epoch, and does nothing with them: how fast the pipeline is without a
--- model. Opening the epochs is part of it. Where buffers would distort the rate, measuring begins and ends with an epoch,
--- for up to twice the budget, and `quality` is unreliable where none fits.
---
--- ```lua
--- local gb = require "gpubench"
--- local input = gb.data.Dataset.from_tensor_slices(gb.zeros { 64, 8 }):shuffle(64):batch(16)
--- local row = gb.measure.pipeline(input, { budget = 0.05, min_time = 0.01, warmup = 0.05 })
--- assert(row.elements_per_s > 0 and row.bytes_per_s > row.elements_per_s)
--- assert(#row.stages == 3 and row.stages[3].stage == "batch" and row.stages[3].elements >= row.elements)
--- ```
---@param dataset Dataset
---@param options MeasureTrainingOptions?
---@return PipelineRow
function gb.measure.pipeline(dataset, options) end

--- Whether `model` waits for `dataset`, proven by taking the input away: measures the step with the whole pipeline, with
--- up to 64 batches that lie ready in host memory, and with two batches that stay on the device, each twice for half of
--- the budget. The row is that of gb.measure.training, all of it from both halves with the whole pipeline, with
--- `cached_step_time_s` and `resident_step_time_s` (mean steps), `input_ratio` (the mean step over that on resident
--- batches, with its 95 % interval) and `input_cause`: what the pipeline's slowest thread was at, measured without the
--- model. With these the `verdict` tells an input bound by reading, processing, transfer (devices with a memory of their
--- own) or hand-over (the host's own work for ready batches) apart; it is proven where the interval lies above 1.05 and
--- fits `input_wait_share`.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(4, { input_shape = { 8 } }) }
--- model:compile { loss = "mse" }
--- local input = gb.data.Dataset.from_tensor_slices { gb.zeros { 64, 8 }, gb.zeros { 64, 4 } }:batch(16)
--- local row = gb.measure.input_proof(model, input, { budget = 0.1, min_time = 0.02, warmup = 0.05 })
--- assert(row.input_ratio > 0 and row.input_cause:find "bound" and #row.verdict > 0)
--- ```
---@param model Model compiled
---@param dataset Dataset batched; its first two batches (of two epochs, where one has only one) must be of one size
---@param options MeasureTrainingOptions?
---@return Row
function gb.measure.input_proof(model, dataset, options) end

return gb
