---@meta
-- Charts of a run, drawn by gnuplot. A column with an interval (`<column>_low` and `<column>_high`, the unit at the end)
-- carries it as bars. A ring marks a point whose row is unreliable; a series without any point is named with the reason.
-- Where x is no axis but was computed, the axis that it follows from makes no series: lines go in its order, and its
-- values stand at the points. Series of one point each have their names there. A value of a series has one colour in all
-- charts of a run. Bounds of gb.expect.at_least and at_most are lines across a chart of their figure, and a knee that a
-- claim confirms is marked.

---@class gpubench
local gb = {}

---@class Chart what gb.chart.line or gb.chart.bar returns

---@class ChartOptions
---@field x string column
---@field y string column
---@field series string|string[]? column whose values tell lines apart; other axes that vary make lines of their own
---@field where table<string, any>? only rows with these values
---@field each string? an axis: a chart for every value of it, all with one scale of y
---@field order string? column in whose order lines go, and whose values are written at the points; absent: x, or the axis that a computed x follows from
---@field limit number? a bound of y, drawn as a line across the chart
---@field log_x number|boolean|nil base of a logarithmic axis; true is 10
---@field log_y number|boolean|nil
---@field name string? file name; "<y>_by_<x>" when absent
---@field title string?

gb.chart = {}

--- Eight series have colours of their own; `where` and `each` keep a chart to that.
---
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
