local gb = require "gpubench"
local chart = require "gpubench.chart"
local testing = require "testing"

testing.case("a chart is its options and its kind", function()
  testing.equal(gb.chart.bar { x = "a", y = "b", log_y = true }, { kind = "bar", x = "a", y = "b", log_y = 10 })
  testing.equal(gb.chart.line { x = "a", y = "b", log_x = 2, series = { "c", "d" } },
    { kind = "line", x = "a", y = "b", log_x = 2, series = "c" })
end)

testing.case("a chart for each value of an axis", function()
  local axes = { gb.axis("input", { "pixels", "jpeg" }), gb.axis("n", { 1 }) }
  local plain = gb.chart.line { x = "n", y = "b" }
  local list = chart.expand({ plain, gb.chart.bar { x = "n", y = "b", each = "input", where = { n = 1 } } }, axes)
  testing.equal(list, {
    plain,
    { kind = "bar", x = "n", y = "b", where = { n = 1, input = "pixels" }, name = "b_by_n_input_pixels",
      title = "b by n, input pixels" },
    { kind = "bar", x = "n", y = "b", where = { n = 1, input = "jpeg" }, name = "b_by_n_input_jpeg",
      title = "b by n, input jpeg" },
  })
  local named = chart.expand({ gb.chart.bar { x = "n", y = "b", each = "n", name = "a", title = "t" } }, axes)
  testing.equal({ named[1].name, named[1].title }, { "a_n_1", "t, n 1" })
  testing.raises("gb.chart: option 'each': there is no axis 'm' (axes: input, n)", chart.expand,
    { gb.chart.bar { x = "n", y = "b", each = "m" } }, axes)
end)

testing.case("mistakes are named", function()
  testing.raises("gb.chart.line: option 'y' is required", gb.chart.line, { x = "a" })
  testing.raises("gb.chart.line: unknown option 'logx' (known: x, y, series, where, each, log_x, log_y, name, title)", gb.chart.line,
    { x = "a", y = "b", logx = 2 })
  testing.raises("gb.chart.line: option 'log_x': the base of a logarithm is above 1, got 1", gb.chart.line,
    { x = "a", y = "b", log_x = 1 })
  testing.raises("gb.chart.bar: table expected, got string", gb.chart.bar, "x")
end)
