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
    { kind = "bar", x = "n", y = "b", each = "input", where = { n = 1, input = "pixels" },
      name = "b_by_n_input_pixels" },
    { kind = "bar", x = "n", y = "b", each = "input", where = { n = 1, input = "jpeg" }, name = "b_by_n_input_jpeg" },
  })
  local named = chart.expand({ gb.chart.bar { x = "n", y = "b", each = "n", name = "a", title = "t" } }, axes)
  testing.equal({ named[1].name, named[1].title }, { "a_n_1", "t, n 1" })
  testing.raises("gb.chart: option 'each': there is no axis 'm' (axes: input, n)", chart.expand,
    { gb.chart.bar { x = "n", y = "b", each = "m" } }, axes)
end)

testing.case("bounds and knees of claims about the same figure are drawn", function()
  local claims = {
    gb.expect.at_most { y = "b", value = 2 },
    gb.expect.at_least { y = "b", value = 1, where = { input = "pixels" } },
    gb.expect.at_least { y = "other", value = 7 },
    gb.expect.ratio { y = "b", of = { n = 1 }, over = { n = 2 }, at_most = 5 },
    gb.expect.knee { x = "n", y = "b" },
  }
  local all = gb.chart.line { x = "n", y = "b", limit = 3 }
  local pixels = gb.chart.line { x = "n", y = "b", where = { input = "pixels" } }
  local drawn = chart.with_limits({ all, pixels }, claims)
  testing.equal({ drawn[1].limits, drawn[2].limits }, { { 3, 2 }, { 2, 1 } })
  testing.equal({ all.limits, pixels.limits }, { { 3 } })  -- they are copies
  local judged = {}
  for index = 1, 5 do judged[index] = { findings = {} } end
  judged[5].findings = { { x = 64 }, { x = 64 }, { x = 8 } }
  local marked = chart.with_knees({ all, gb.chart.line { x = "m", y = "b" } }, claims, judged)
  testing.equal({ marked[1].knees, marked[2].knees }, { { 64, 8 } })
end)

testing.case("a heat map has rows, and charts of single steps have neither x nor y", function()
  testing.equal(gb.chart.heat { x = "a", y = "b", series = "c", log_y = true },
    { kind = "heat", x = "a", y = "b", series = "c", log_y = 10 })
  testing.raises("gb.chart.heat: option 'series' is required: its values are the rows", gb.chart.heat,
    { x = "a", y = "b" })
  testing.raises("gb.chart.heat: option 'x' is required", gb.chart.heat, { y = "b", series = "c" })
  testing.raises("gb.chart.heat: unknown option 'log_x'", gb.chart.heat, { x = "a", y = "b", series = "c", log_x = 2 })
  testing.equal(gb.chart.distribution { series = "c", log_x = 10 }, { kind = "distribution", series = "c", log_x = 10 })
  testing.equal(gb.chart.course {}, { kind = "course" })
  testing.raises("gb.chart.course: unknown option 'x' (known: series, where, each, log_x, log_y, name, title)",
    gb.chart.course, { x = "a" })
  local axes = { gb.axis("n", { 1 }) }
  testing.equal(chart.expand({ gb.chart.course { each = "n" } }, axes)[1].name, "course_n_1")
end)

testing.case("mistakes are named", function()
  testing.raises("gb.chart.line: option 'y' is required", gb.chart.line, { x = "a" })
  testing.raises("gb.chart.line: unknown option 'logx' (did you mean 'log_x'?) (known: x, y, series, where, each, "
    .. "order, limit, log_x, log_y, name, title)", gb.chart.line,
    { x = "a", y = "b", logx = 2 })
  testing.raises("gb.chart.line: option 'log_x': the base of a logarithm is above 1, got 1", gb.chart.line,
    { x = "a", y = "b", log_x = 1 })
  testing.raises("gb.chart.bar: table expected, got string", gb.chart.bar, "x")
end)
