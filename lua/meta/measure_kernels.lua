---@meta
-- Single kernels, measured apart from any model.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class KernelOptions
---@field op "matmul"|"conv2d"
---@field dtype string? "float32" (default) or "bfloat16"
---@field m integer? matmul: [m, k] times [k, n]
---@field n integer?
---@field k integer?
---@field batch integer? conv2d: the images' extents
---@field height integer?
---@field width integer?
---@field channels integer?
---@field filters integer? conv2d: channels of the result
---@field kernel_size integer? conv2d: 3
---@field strides integer? conv2d: 1
---@field padding "valid"|"same"|nil conv2d: "valid"

---@class KernelsOptions
---@field [integer] KernelOptions what to measure, one after the other
---@field device string? the current device
---@field budget number? seconds for all of them together; `--budget` otherwise

--- How fast single kernels run: one row for each, with the columns op, shape, dtype, implementation, device, steps,
--- step_time_s (median, with its interval), flops_per_step, flops_per_s, bytes_per_s and mfu, here the share of the best
--- large matrix product that this device was measured at. `samples` are the times in seconds.
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

return gb
