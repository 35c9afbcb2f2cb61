---@meta
-- What a device's links and memory give at best.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class CopyRates
---@field to_device_bytes_per_s number? from page-locked memory of the host; absent where the device works in that memory
---@field from_device_bytes_per_s number?
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

return gb
