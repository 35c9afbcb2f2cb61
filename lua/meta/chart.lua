---@meta
-- Charts of a run, drawn by gnuplot. Step times and rates carry their 95 % intervals as error bars.

---@class gpubench
local gb = {}

---@class Chart what gb.chart.line or gb.chart.bar returns

---@class ChartOptions
---@field x string column
---@field y string column
---@field series string|string[]? column whose values tell lines apart; other axes that vary make lines of their own
---@field log_x number|boolean|nil base of a logarithmic axis; true is 10
---@field log_y number|boolean|nil
---@field name string? file name; "<y>_by_<x>" when absent
---@field title string?

gb.chart = {}

--- ```lua
--- local gb = require "gpubench"
--- local chart = gb.chart.line { x = "batch_size", y = "examples_per_s", series = "device", log_x = 2 }
--- assert(chart.kind == "line")
--- ```
---@param options ChartOptions
---@return Chart
function gb.chart.line(options) end

---@param options ChartOptions
---@return Chart
function gb.chart.bar(options) end

return gb
