---@meta
-- Measuring a training.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class MeasureTrainingOptions
---@field budget number? seconds of measuring; --budget unless given
---@field min_time number? seconds to measure at least, no more than the budget; 0.3 (or a shorter budget) unless given
---@field warmup number? seconds of warming up at most, but six steps or more where they are long; 0.5 unless given
---@field relative_error number? wanted half-width of the median's interval, as a share; 0.01 unless given
---@field trace boolean? a few more steps are traced after the timing, which fills the shares, device_busy and what
--- replicas on GPUs spend on each other; true writes trace-<point>.json for chrome://tracing or Perfetto into the run's folder too, false leaves it all out

---@class MeasureProfiledOptions: MeasureTrainingOptions
---@field profile boolean? the row has a `profile` of the traced steps too: time and memory by layer and op. The run's folder
--- gets profile-<point>.json, and its report a chart and a table of it. Devices then launch op by op

---@class MeasureResidentOptions: MeasureProfiledOptions
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
---@return Row
function gb.measure.training(model, dataset, options) end

---@class ProfileEntry
---@field class string "compute", "communication", "peer_wait", "copy", "memset", "input_wait", "launch", "host_sync",
--- "host_compute", "compile" or "other"
---@field layer string? of the entry: a layer, a loss, "metrics" or the optimizer
---@field op string?
---@field role string? "forward", "gradient", "recomputed" or "update"
---@field time_s number of a step
---@field share number of the step
---@field calls number in a step
---@field flops number? of a planned kernel: floating-point operations in a step
---@field bytes number? of a planned kernel: bytes that it must move at least in a step
---@field implementation string? of a planned kernel, in `entries`: "cublaslt:21 searched", "cudnn:conv:engine 45"

---@class IdleGap
---@field step integer the traced step in which it began, from 1
---@field since_step_s number from the beginning of that step
---@field length_s number
---@field device integer index of the replica, from 0
---@field doing string the class of what the launching thread did for most of the gap
---@field what string? its name
---@field share number of the gap that it took
---@field before string? the op whose kernel ran before
---@field after string? the op whose kernel ran after

---@class Profile
---@field steps integer how many were traced
---@field step_s number their mean time
---@field doubt string? why the figures are unreliable
---@field entries ProfileEntry[] longest first; their times sum to the step
---@field layers ProfileEntry[] the same by layer
---@field ops ProfileEntry[] the same by op
---@field gaps IdleGap[] the five longest times in which no kernel ran
---@field memory { layer: string, kind: string, bytes: integer }[] what the layers hold when a step holds most
---@field text string tables of layers, ops and gaps

---@class Model
local Model = {}

---@class ProfileOptions
---@field steps integer? how many are traced; 10 unless given, 1000 at most

--- Trains a few steps and says where their time goes. Each moment counts for the kernel that runs, or else for what the
--- host does meanwhile.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential {
---   gb.layers.Dense(32, { activation = "relu", input_shape = { 784 }, name = "hidden" }),
---   gb.layers.Dense(10, { activation = "softmax" }),
--- }
--- model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
--- local profile = model:profile(gb.datasets.mnist("train"):batch(32), { steps = 5 })
--- local sum = 0
--- for _, layer in ipairs(profile.layers) do sum = sum + layer.time_s end
--- assert(math.abs(sum / profile.step_s - 1) < 0.02 and #profile.gaps <= 5)
--- for _, op in ipairs(profile.ops) do
---   if op.op == "matmul" then assert(op.flops / op.time_s > 0 and op.bytes / op.time_s > 0) end
--- end
--- ```
---@param dataset Dataset batched
---@param options ProfileOptions?
---@return Profile
function Model:profile(dataset, options) end

return gb
