---@meta
-- What a training would take on more replicas than there are.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class ScalingModelOptions
---@field collectives Row[] all-reduces of gb.measure.collective, of two sizes at least: the columns `replicas`,
--- `message_bytes` and `collective_time_s`
---@field step_time_s number seconds of a step of one replica alone
---@field gradient_bytes number that replicas exchange in a step
---@field fit_up_to integer? the model is made of all-reduces of so many replicas; more are there to be predicted. All unless given
---@field pattern "ring"|"tree"|nil how a message reaches all replicas: over 2 (n - 1) hops ("ring", unless given) or 2 ceil(log2 n)
---@field bucket_bytes number? gradients exchanged at a time; all at once unless given
---@field overlap number? share of the exchange that runs beside the backward pass; 0 unless given
---@field backward_share number? share of a step that the backward pass takes, and that can hide an exchange; 2/3 unless given
---@field replicas integer[]? to be predicted; 2, 4, 8 and so on to 4096 unless given
---@field measured Row[]? trainings of gb.measure.training with a fixed batch per replica, to be held against the prediction:
--- the columns `replicas` and `step_time_s`

---@class ScalingRow
---@field replicas integer
---@field all_reduce_s number the exchange of a step
---@field hidden_s number of that, what the backward pass hides in weak scaling
---@field predicted_step_time_s number with a fixed batch per replica (weak scaling)
---@field weak_efficiency number the step alone over that
---@field strong_step_time_s number with one batch divided among the replicas
---@field strong_efficiency number the step alone over n times that
---@field measured_step_time_s number? where `measured` has it
---@field prediction_error_share number? 0.1 where the prediction is 10 % too long

---@class ScalingCollective
---@field replicas integer
---@field message_bytes number
---@field collective_time_s number as measured
---@field predicted_time_s number from fewer replicas; for those that the model is made of, from the other sizes
---@field prediction_error_share number

---@class ScalingCurve
---@field replicas integer
---@field latency_s number
---@field bytes_per_s number? of the message; absent where the size does not matter

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
