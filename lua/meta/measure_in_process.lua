---@meta
-- A training in a fresh process, under conditions that cannot be changed while a process runs.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class ProcessOptions
---@field processors integer? it runs on so many of this process' processors only
---@field threads integer? as `--threads`
---@field environment table<string, string>? variables: CUDA_LAUNCH_BLOCKING, CUDA_VISIBLE_DEVICES, DNNL_MAX_CPU_ISA,
--- NVIDIA_TF32_OVERRIDE, ONEDNN_MAX_CPU_ISA, OMP_THREAD_LIMIT
---@field address_space integer? bytes, as `ulimit -v`
---@field neighbours integer? so many threads of this process keep processors busy beside it
---@field device string? where it trains
---@field soft boolean? as gb.config.set_soft_device_placement
---@field pinned boolean? false: inputs in ordinary memory, not page-locked
---@field memory_limit integer? bytes of the device's memory, as gb.config.set_memory_limit
---@field checks string[]? checks of `gpubench doctor` that it looks at before it trains

---@class DoctorResult
---@field name string of the check
---@field device string? such as "gpu:0"
---@field state "ok"|"costs speed"|"wrong"|"unknown"
---@field found string
---@field consequence string?
---@field remedy string?
---@field problem boolean whether it costs speed or is wrong

---@class ProcessResult
---@field status string as in the column of results: "ok", "error", "out_of_memory", ...
---@field detail string? why there is no row, or why another device trained
---@field row table<string, any>? that of gb.measure.training
---@field checks DoctorResult[]

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

return gb
