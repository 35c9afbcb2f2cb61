---@meta
-- Charts of a run, drawn by gnuplot. A column with an interval (`<column>_low` and `<column>_high`, the unit at the
-- end) carries it as bars. A ring marks a point whose row is unreliable; a series without any point is named with the
-- reason. Where x is no axis but was computed, the axis that it follows from makes no series: lines go in its order,
-- and its values stand at the points. Series of one point each have their names there. A value of a series has one
-- colour in all charts of a run. Bounds of gb.expect.at_least and at_most are lines across a chart of their figure, and
-- a knee that a claim confirms is marked.

---@class gpubench
local gb = {}

--- What a function of gb.chart returns.
---@class Chart

---@class ChartOptions
---@field x string column
---@field y string column
---@field series string|string[]? column whose values tell lines apart; other axes that vary make lines of their own;
--- none unless given
---@field where table<string, any>? only rows with these values; all unless given
---@field each string? an axis: a chart for every value of it, all with one scale of y; one chart unless given
---@field order string? column in whose order lines go, and whose values are written at the points; absent: x, or the
--- axis that a computed x follows from
---@field limit number? a bound of y, drawn as a line across the chart; none unless given
---@field log_x number|boolean|nil base of a logarithmic axis; true is 10; a linear one unless given
---@field log_y number|boolean|nil base of a logarithmic axis; true is 10; absent: a linear one
---@field name string? file name; "<y>_by_<x>" when absent
---@field title string? above the chart; made from the columns when absent

---@class HeatOptions
---@field x string column whose values are the columns of cells
---@field y string column of the figures in the cells
---@field series string|string[] column whose values are the rows
---@field where table<string, any>? only rows with these values; all unless given
---@field each string? an axis: a chart for every value of it, all with one scale of shades; one chart unless given
---@field log_y number|boolean|nil shades by the logarithm of the figures; false unless given
---@field name string? file name; "<y>_by_<x>" when absent
---@field title string? above the chart; made from the columns when absent

---@class SampleChartOptions
---@field series string|string[]? column whose values tell lines apart; other axes that vary make lines of their own;
--- none unless given
---@field where table<string, any>? only points with these values; all unless given
---@field each string? an axis: a chart for every value of it; one chart unless given
---@field log_x number|boolean|nil base of a logarithmic axis; true is 10; a linear one unless given
---@field log_y number|boolean|nil base of a logarithmic axis; true is 10; absent: a linear one
---@field name string? file name; made from the kind of chart unless given
---@field title string? above the chart; made from the kind of chart when absent

--- Charts of a run, drawn by gnuplot into its report.
---@class gpubench.chart
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

--- A bar for each value of `x`, side by side for each series; intervals stand on the bars.
---@param options ChartOptions
---@return Chart
function gb.chart.bar(options) end

--- A figure over two axes: a cell for each pair, darker where the figure is larger, with the figure in it.
---
--- ```lua
--- local gb = require "gpubench"
--- local chart = gb.chart.heat { x = "learning_rate", y = "val_accuracy", series = "batch_size" }
--- assert(chart.kind == "heat")
--- ```
---@param options HeatOptions
---@return Chart
function gb.chart.heat(options) end

--- How the times of single steps are distributed, or the latencies of single answers: the share of them that took as
--- long at most. Of process 0, all rounds together; from samples.csv.
---@param options SampleChartOptions
---@return Chart
function gb.chart.distribution(options) end

--- The times of single steps, or the latencies of single answers, one after the other; of neighbouring ones the median,
--- where there are more than 200.
---@param options SampleChartOptions
---@return Chart
function gb.chart.course(options) end

return gb
