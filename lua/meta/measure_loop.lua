---@meta
-- Training loops written by hand, measured as gb.measure.training measures a model.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

--- Calls `step` with the tensors of each element of `dataset`, again and again, until the time per call is known
--- precisely enough. The row has the columns of gb.measure.training that need no model, `last_loss` (the first result of
--- the last call, when it is a scalar tensor) and `samples`. Where the function calls strategy:run of one strategy,
--- `batch_size` counts the examples of all processes, and the columns of replicas and `ranks` say what they spend on each
--- other; of several strategies nothing is said, and `detail` says so.
---
--- ```lua
--- local gb = require "gpubench"
--- local w = gb.Variable(1)
--- local step = gb.compile(function(x) w:assign_add(x:mean() * 0.001); return w * 1 end)
--- local input = gb.data.Dataset.from_tensor_slices(gb.arange(64):cast("float32")):batch(8)
--- local row = gb.measure.loop(step, input, { budget = 0.05, min_time = 0.01 })
--- assert(row.batch_size == 8 and row.step_time_s > 0)
--- ```
---@param step fun(...: Tensor): Tensor?
---@param dataset Dataset batched
---@param options MeasureProfiledOptions?
---@return Row
function gb.measure.loop(step, dataset, options) end

return gb
