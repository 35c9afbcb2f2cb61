local gb = require "gpubench"
local testing = require "testing"

testing.case("a chart is its options and its kind", function()
  testing.equal(gb.chart.bar { x = "a", y = "b", log_y = true }, { kind = "bar", x = "a", y = "b", log_y = 10 })
  testing.equal(gb.chart.line { x = "a", y = "b", log_x = 2, series = { "c", "d" } },
    { kind = "line", x = "a", y = "b", log_x = 2, series = "c" })
end)

testing.case("mistakes are named", function()
  testing.raises("gb.chart.line: option 'y' is required", gb.chart.line, { x = "a" })
  testing.raises("gb.chart.line: unknown option 'logx' (known: x, y, series, log_x, log_y, name, title)", gb.chart.line,
    { x = "a", y = "b", logx = 2 })
  testing.raises("gb.chart.line: option 'log_x': the base of a logarithm is above 1, got 1", gb.chart.line,
    { x = "a", y = "b", log_x = 1 })
  testing.raises("gb.chart.bar: table expected, got string", gb.chart.bar, "x")
end)
