---@meta
-- Intervals of figures that a script counts itself.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

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
