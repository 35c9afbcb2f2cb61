---@meta
-- Single kernels, measured apart from any model.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class KernelOptions
---@field op "matmul"|"conv2d" which kernel
---@field dtype string? "float32" (default) or "bfloat16"
---@field m integer? rows of the result; needed for matmul, none unless given
---@field n integer? matmul: columns of the result; needed for matmul, none unless given
---@field k integer? matmul: length of the products that are added up; needed for matmul, none unless given
---@field batch integer? conv2d: the images' extents; needed for conv2d, none unless given
---@field height integer? conv2d: of the images; needed for conv2d, none unless given
---@field width integer? conv2d: of the images; needed for conv2d, none unless given
---@field channels integer? conv2d: of the images; needed for conv2d, none unless given
---@field filters integer? conv2d: channels of the result; needed for conv2d, none unless given
---@field kernel_size integer? conv2d; 3 unless given
---@field strides integer? conv2d; 1 unless given
---@field padding "valid"|"same"|nil conv2d; "valid" unless given

---@class KernelsOptions
---@field [integer] KernelOptions what to measure, one after the other
---@field device string? the current one unless given
---@field budget number? seconds for all of them together; `--budget` otherwise

--- How fast single kernels run: one row for each, with the columns op, shape, dtype, implementation, device, steps,
--- step_time_s (median, with its interval), flops_per_step, flops_per_s, bytes_per_s and mfu, here the share of the
--- best large matrix product that this device was measured at. `samples` are the times in seconds.
---
--- ```lua
--- local gb = require "gpubench"
--- local rows = gb.measure.kernels {
---   { op = "matmul", m = 64, n = 64, k = 64 },
---   { op = "conv2d", batch = 8, height = 28, width = 28, channels = 1, filters = 32 },
---   budget = 0.1,
--- }
--- assert(rows[1].shape == "64x64x64" and rows[1].flops_per_step == 2 * 64 ^ 3)
--- assert(rows[2].op == "conv2d" and rows[2].step_time_s > 0)
--- ```
---@param options KernelOptions[]|KernelsOptions
---@return Row[]
function gb.measure.kernels(options) end

-- What a device's links and memory give at best.

--- The best rates of copies of a device, in bytes per second.
---@class CopyRates
---@field to_device_bytes_per_s number? from page-locked memory of the host; absent where the device works in that
--- memory
---@field from_device_bytes_per_s number? to page-locked memory of the host; absent where the device works in that
--- memory
---@field on_device_bytes_per_s number bytes read and written, both counted

--- The best rates of large copies, measured at the first call for a device and then remembered. They stand in run.json
--- as best_copy_bytes_per_s.
---
--- ```lua
--- local gb = require "gpubench"
--- local rates = gb.measure.copies("cpu:0")
--- assert(rates.on_device_bytes_per_s > 1e6 and rates.to_device_bytes_per_s == nil)
--- ```
---@param device string? the one in use unless given
---@return CopyRates
function gb.measure.copies(device) end

-- How fast devices exchange tensors with each other.

---@class CollectiveOptions
---@field op "all_reduce"|"all_gather"|"reduce_scatter"|"broadcast"|nil "all_reduce" unless given; reductions are sums
---@field sizes integer[] bytes that a rank puts in, of all_gather and reduce_scatter those of the whole; rounded down
--- to whole elements, one for each rank
---@field dtype string? "float32" unless given; "float16", "bfloat16", "int32" or "int64"
---@field devices string[]? one rank each: all GPUs unless given, or all CPU devices where there is no GPU
---@field cross_device "automatic"|"local"|"nccl"|"reduction_to_one"|nil how they exchange; "automatic" unless given
---@field algorithm "direct"|"tree"|"parts"|"ring"|nil how CPU devices of one process carry out an all_reduce; without,
--- each message takes the way that suits its size. "direct" and "tree" are for messages of up to 2 KiB
---@field budget number? seconds for all sizes together; `--budget` otherwise

--- Times a collective, each rank on a thread of its own, and returns a row for each size, by the definitions of
--- nccl-tests:
---
--- - `collective_time_s`: the median time, mean over the ranks, with its interval; `fastest_rank_time_s`,
---   `mean_rank_time_s` and `slowest_rank_time_s` are the means of single ranks. Collectives run back to back, so ranks
---   arrive together.
--- - `algorithm_bytes_per_s`: `message_bytes` over the time. `bus_bytes_per_s`: that times 2 (n - 1) / n for
---   all_reduce, (n - 1) / n for all_gather and reduce_scatter, 1 for broadcast, so that the best possible is the rate
---   of the link whatever the number of ranks; absent for one rank.
--- - `algorithm`: how it was done, where the communicator tells. `"direct"`: every rank takes what it needs from the
---   others. `"tree"`: many ranks add up small messages along a tree. `"parts"`: every rank adds up a part of the
---   message and writes the sum to all. `"ring"`: sums of parts go around, and every rank reads from its neighbour
---   alone. `"reduction_to_one"`: the first rank does alone what `"parts"` does.
---   Between processes `"pieces"` go around; with several ranks in each both are named.
--- - `wrong`: elements of the result, of all ranks together, that are not the exact one; a row that has any is
---   unreliable. So is one of CPU devices whose threads shared a processor, which is slower than any link.
---
--- Where several processes run the script, the ranks of all take part, and each process gets the same rows. Everything
--- is in place: the part of all_gather and reduce_scatter lies in the whole. `samples` are the times in seconds.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
--- local rows = gb.measure.collective { sizes = { 4096, 65536 }, devices = { "cpu:0", "cpu:1" }, budget = 0.1 }
--- assert(#rows == 2 and rows[2].message_bytes == 65536 and rows[2].replicas == 2)
--- assert(rows[2].algorithm == "parts")
--- local devices = { "cpu:0", "cpu:1" }
--- local around = gb.measure.collective { sizes = { 65536 }, devices = devices, algorithm = "ring", budget = 0.1 }
--- assert(around[1].algorithm == "ring" and around[1].wrong == 0)
--- -- 2 (n - 1) / n is 1 for two
--- assert(rows[1].wrong == 0 and rows[1].bus_bytes_per_s == rows[1].algorithm_bytes_per_s)
--- ```
---@param options CollectiveOptions
---@return Row[]
function gb.measure.collective(options) end

-- What a training would take on more replicas than there are.

---@class ScalingModelOptions
---@field collectives Row[] all-reduces of gb.measure.collective, of two sizes at least: the columns `replicas`,
--- `message_bytes` and `collective_time_s`
---@field step_time_s number seconds of a step of one replica alone
---@field gradient_bytes number that replicas exchange in a step
---@field fit_up_to integer? the model is made of all-reduces of so many replicas; more are there to be predicted. All
--- unless given
---@field pattern "ring"|"tree"|nil how a message reaches all replicas: over 2 (n - 1) hops ("ring", unless given) or 2
--- ceil(log2 n)
---@field bucket_bytes number? gradients exchanged at a time; all at once unless given
---@field overlap number? share of the exchange that runs beside the backward pass; 0 unless given
---@field backward_share number? share of a step that the backward pass takes, and that can hide an exchange; 2/3 unless
--- given
---@field replicas integer[]? to be predicted; 2, 4, 8 and so on to 4096 unless given
---@field measured Row[]? trainings of gb.measure.training with a fixed batch per replica, to be held against the
--- prediction: the columns `replicas` and `step_time_s`; none unless given

--- A predicted step.
---@class ScalingRow
---@field replicas integer for so many replicas
---@field all_reduce_s number the exchange of a step
---@field hidden_s number of that, what the backward pass hides in weak scaling
---@field predicted_step_time_s number with a fixed batch per replica (weak scaling)
---@field weak_efficiency number the step alone over that
---@field strong_step_time_s number with one batch divided among the replicas
---@field strong_efficiency number the step alone over n times that
---@field measured_step_time_s number? where `measured` has it
---@field prediction_error_share number? 0.1 where the prediction is 10 % too long

--- A measured all-reduce beside its prediction.
---@class ScalingCollective
---@field replicas integer ranks of the all-reduce
---@field message_bytes number bytes that a rank puts in
---@field collective_time_s number as measured
---@field predicted_time_s number from fewer replicas; for those that the model is made of, from the other sizes
---@field prediction_error_share number 0.1 where the prediction is 10 % too long

--- Latency and bandwidth of an all-reduce.
---@class ScalingCurve
---@field replicas integer ranks of the all-reduce
---@field latency_s number what it takes beyond its bytes
---@field bytes_per_s number? of the message; absent where the size does not matter

--- What gb.measure.scaling_model returns.
---@class ScalingModel
---@field rows ScalingRow[] by replicas
---@field collectives ScalingCollective[] the measured all-reduces, each against its prediction
---@field curves ScalingCurve[] latency and bandwidth nearest to what the model is made of, by replicas
---@field assumptions string[] what the figures rest on

--- Predicts steps on many replicas from a step alone, the all-reduce by size on few, and how much of the exchange the
--- backward pass hides; predictions stand beside what was measured. The latency of an all-reduce grows with the hops of
--- the pattern, the rest of its time as 2 (n - 1) / n; between measured sizes it is interpolated.
---
--- ```lua
--- local gb = require "gpubench"
--- local rows = {}
--- for index, bytes in ipairs { 1e4, 1e6, 1e8 } do  -- 20 us and 10 GB/s between two replicas
---   rows[index] = { replicas = 2, message_bytes = bytes, collective_time_s = 20e-6 + bytes / 10e9 }
--- end
--- local model = gb.measure.scaling_model {
---   collectives = rows, step_time_s = 0.05, gradient_bytes = 100e6, overlap = 0.5, replicas = { 2, 64 },
---   measured = { { replicas = 2, step_time_s = 0.055 } },
--- }
--- local two, many = model.rows[1], model.rows[2]
--- assert(math.abs(two.all_reduce_s - 0.01002) < 1e-6 and math.abs(two.prediction_error_share) < 1e-3)
--- assert(many.weak_efficiency < two.weak_efficiency and many.strong_efficiency < many.weak_efficiency)
--- assert(model.assumptions[1] == "all-reduce of 2 replicas, as measured: 20 µs and 10 GB/s of the message")
--- ```
---@param options ScalingModelOptions
---@return ScalingModel
function gb.measure.scaling_model(options) end

return gb
