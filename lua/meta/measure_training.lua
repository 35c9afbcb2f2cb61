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
--- replicas on GPUs spend on each other; true writes trace-<point>.json for chrome://tracing or Perfetto into the run's
--- folder too, false leaves it all out; traced without a file unless given

---@class MeasureProfiledOptions: MeasureTrainingOptions
---@field profile boolean? the row has a `profile` of the traced steps too: time and memory by layer and op. The run's
--- folder gets profile-<point>.json, and its report a chart and a table of it. Devices then launch op by op; false
--- unless given

---@class MeasureResidentOptions: MeasureProfiledOptions
---@field resident boolean? the first two batches stay on the device and all steps train on them: what a step takes
--- without its input; false unless given

--- Steps through the dataset again and again: warms up until step times settle, then measures until they are known
--- precisely enough or the budget is spent. Returns the standard columns and `samples`, every step time in seconds.
--- Where buffers that were filled before would distort the rate, measuring begins and ends with an epoch, for up to
--- twice the budget, and `quality` is unreliable where none fits. Of a model with replicas `ranks` says what each
--- spends on what. `verdict` says why the device was not busy, as `gpubench explain` does of a run.
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

--- A part of a step's time: a class, a layer, an op.
---@class ProfileEntry
---@field class string "compute", "communication", "peer_wait", "copy", "memset", "input_wait", "launch", "host_sync",
--- "host_compute", "compile" or "other"
---@field layer string? of the entry: a layer, a loss, "metrics" or the optimizer
---@field op string? of the entry, such as "matmul"
---@field role string? "forward", "gradient", "recomputed" or "update"
---@field time_s number of a step
---@field share number of the step
---@field calls number in a step
---@field flops number? of a planned kernel: floating-point operations in a step
---@field bytes number? of a planned kernel: bytes that it must move at least in a step
---@field implementation string? of a planned kernel, in `entries`: "cublaslt:21 searched", "cudnn:conv:engine 45"

--- A time in which no kernel ran.
---@class IdleGap
---@field step integer the traced step in which it began, from 1
---@field since_step_s number from the beginning of that step
---@field length_s number how long no kernel ran
---@field device integer index of the replica, from 0
---@field doing string the class of what the launching thread did for most of the gap
---@field what string? its name
---@field share number of the gap that it took
---@field before string? the op whose kernel ran before
---@field after string? the op whose kernel ran after

--- Where the time of a step goes.
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

-- Training loops written by hand, measured as gb.measure.training measures a model.

--- Calls `step` with the tensors of each element of `dataset`, again and again, until the time per call is known
--- precisely enough. The row has the columns of gb.measure.training that need no model, `last_loss` (the first result
--- of the last call, when it is a scalar tensor) and `samples`. Where the function calls strategy:run of one strategy,
--- `batch_size` counts the examples of all processes, and the columns of replicas and `ranks` say what they spend on
--- each other; of several strategies nothing is said, and `detail` says so.
---
--- ```lua
--- local gb = require "gpubench"
--- local w = gb.Variable(1)
--- local step = gb.compile(function(x) w:assign_add(x:mean() * 0.001); return w * 1 end)
--- local input = gb.data.Dataset.from_tensor_slices(gb.arange(64):cast("float32")):batch(8)
--- local row = gb.measure.loop(step, input, { budget = 0.05, min_time = 0.01 })
--- assert(row.batch_size == 8 and row.step_time_s > 0)
--- ```
---@param step fun(...: Tensor): Tensor? what is timed; a scalar tensor that it returns is `last_loss`
---@param dataset Dataset batched
---@param options MeasureProfiledOptions?
---@return Row
function gb.measure.loop(step, dataset, options) end

-- Input pipelines measured by themselves, and proofs of what they cost a training.

--- What gb.measure.pipeline returns.
---@class PipelineRow: Row
---@field elements_per_s number elements over the time they took
---@field bytes_per_s number bytes of the elements over that time
---@field first_element_s number from opening the pipeline to its first element
---@field samples number[] seconds an element, each over a window of some milliseconds
---@field stages StageStatistics[] sources first; unlike those of Dataset:stats(), sums over all epochs since measuring
--- began (workers and buffers: as they were at the end)

--- Takes the elements of `dataset`, epoch after epoch, and does nothing with them: how fast the pipeline is without a
--- model. Opening the epochs is part of it. Where buffers would distort the rate, measuring begins and ends with an
--- epoch, for up to twice the budget, and `quality` is unreliable where none fits.
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

--- Whether `model` waits for `dataset`, proven by taking the input away: measures the step with the whole pipeline,
--- with up to 64 batches that lie ready in host memory, and with two batches that stay on the device, each twice for
--- half of the budget. The row is that of gb.measure.training, all of it from both halves with the whole pipeline, with
--- `cached_step_time_s` and `resident_step_time_s` (mean steps), `input_ratio` (the mean step over that on resident
--- batches, with its 95 % interval) and `input_cause`: what the pipeline's slowest thread was at, measured without the
--- model. With these the `verdict` tells an input bound by reading, processing, transfer (devices with a memory of
--- their own) or hand-over (the host's own work for ready batches) apart; it is proven where the interval lies above
--- 1.05 and fits `input_wait_share`.
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

-- A training in a fresh process, under conditions that cannot be changed while a process runs.

---@class ProcessOptions
---@field processors integer? it runs on so many of this process' processors only; all unless given
---@field threads integer? as `--threads`; as this process unless given
---@field environment table<string, string>? variables: CUDA_LAUNCH_BLOCKING, CUDA_VISIBLE_DEVICES, DNNL_MAX_CPU_ISA,
--- NVIDIA_TF32_OVERRIDE, ONEDNN_MAX_CPU_ISA, OMP_THREAD_LIMIT; none unless given
---@field address_space integer? bytes, as `ulimit -v`; no limit unless given
---@field neighbours integer? so many threads of this process keep processors busy beside it; 0 unless given
---@field device string? where it trains; the first that can be used unless given
---@field soft boolean? as gb.config.set_soft_device_placement; false unless given
---@field pinned boolean? false: inputs in ordinary memory, not page-locked; true unless given
---@field memory_limit integer? bytes of the device's memory, as gb.config.set_memory_limit; no limit unless given
---@field checks string[]? checks of `gpubench doctor` that it looks at before it trains; none unless given

--- What a check of `gpubench doctor` found.
---@class DoctorResult
---@field name string of the check
---@field device string? such as "gpu:0"
---@field state "ok"|"costs speed"|"wrong"|"unknown" what the check says
---@field found string what was found, in words
---@field consequence string? what it costs, where it costs anything
---@field remedy string? what to do about it, where there is anything to do
---@field problem boolean whether it costs speed or is wrong

--- What gb.measure.in_process returns.
---@class ProcessResult
---@field status string as in the column of results: "ok", "error", "out_of_memory", ...
---@field detail string? why there is no row, or why another device trained
---@field row table<string, any>? that of gb.measure.training
---@field checks DoctorResult[] of the checks that were asked for

--- Trains three layers Dense (1024, 1024, 10) on MNIST with batches of 256 in a process of its own, measured with the
--- budget of a point. Not in a run of several processes.
---
--- ```lua
--- local gb = require "gpubench"
--- local alone = gb.measure.in_process { processors = 1, checks = { "cpu_limit" } }
--- assert(alone.row.step_time_s > 0 and alone.checks[1].name == "cpu_limit")
--- local refused = gb.measure.in_process { device = "gpu:99" }
--- assert(refused.status == "error" and refused.detail:find("gpu:99", 1, true))
--- ```
---@param options ProcessOptions?
---@return ProcessResult
function gb.measure.in_process(options) end

-- Intervals of figures that a script counts itself.

--- The 95 % interval of a share of `count` things, such as an accuracy on so many test examples. A row that has them as
--- `<column>_low` and `<column>_high` gets them into its charts and its claims.
---
--- ```lua
--- local gb = require "gpubench"
--- local low, high = gb.measure.share_interval(0.95, 2000)
--- assert(low < 0.95 and high > 0.95 and high - low < 0.02)
--- ```
---@param share number
---@param count number
---@return number low
---@return number high
function gb.measure.share_interval(share, count) end

return gb
