-- Runs whose pages are hard to show: long words and lines, failed and skipped points, series with odd names, panels.
local gb = require "gpubench"

local long = string.rep("a long word ", 33)
local odd = [[<b>&amp; "q" 'a' `x` $1 {/Bold y} _a^b 5 % \ ]] .. "]]> ü 日本"

local function figure_of(point)
  if point.n == 2 then error(long) end
  return {
    figure = 7 - point.n, figure_low = 6.5 - point.n, figure_high = 7.5 - point.n, other_bytes = 5000 * point.n,
    label = "text " .. point.n,
  }
end

gb.experiment {
  name = "pages", title = long, question = "Does it fit? " .. long, cause = long, remedy = long, reading = long,
  axes = { gb.axis("n", { 1, 2, 10, 300 }), gb.axis("way", { "a", "a_long_name_of_a_way_that_has_no_blank_in_it" }) },
  columns = { gb.column("figure", { kind = "counted" }), gb.column("other_bytes", { kind = "counted" }) },
  skip = function(point) if point.n == 300 then return "too large" end end,
  run = figure_of,
  charts = {
    gb.chart.line { x = "n", y = "figure", series = "way", log_x = 2 },
    gb.chart.bar { x = "way", y = "other_bytes", title = long },
    gb.chart.line { x = "n", y = "other_bytes", each = "way", log_y = 10 },
  },
  expect = {
    gb.expect.decreasing { x = "n", y = "figure", claim = long },
    gb.expect.at_most { y = "figure", value = 9, claim = "it is small", answer = "At most {of}" },
  },
}

-- One chart, as wide as it gets, of more series than there are colours.
gb.experiment {
  name = "series", title = odd, question = odd .. "?",
  axes = { gb.axis("n", { 1, 2, 3 }), gb.axis("name", { odd, "b", "c", "d", "e", "f", "g", "h", "i" }) },
  columns = { gb.column("figure", { kind = "counted" }) },
  run = function(point) return { figure = point.n * #point.name } end,
  charts = {
    gb.chart.bar { x = "n", y = "figure", series = "name", limit = 20 },
    gb.chart.heat { x = "n", y = "figure", series = "name" },
  },
}

-- Points that hide each other, and many rows.
gb.experiment {
  name = "points", title = "Points",
  axes = { gb.axis("method", { "original", "int8", "int8_aware", "small" }), gb.axis("n", { 1 }) },
  columns = { gb.column("size", { kind = "counted" }), gb.column("figure", { kind = "counted" }) },
  run = function(point) return { size = point.method == "original" and 9 or 4, figure = 90 + #point.method / 5 } end,
  charts = { gb.chart.line { x = "size", y = "figure", series = "method" } },
}

gb.experiment {
  name = "rows", title = "Many rows", axes = { gb.axis("n", { 1 }) },
  columns = { gb.column("figure", { kind = "counted" }) },
  run = function()
    local rows = {}
    for index = 1, 300 do rows[index] = { step = index, figure = index * index } end
    return rows
  end,
  charts = { gb.chart.line { x = "step", y = "figure" } },
}

-- Bars without height, and the steps of real measurements.
gb.experiment {
  name = "steps", title = "Steps", axes = { gb.axis("width", { 8, 64 }) },
  columns = { gb.column("nothing", { kind = "counted" }) },
  run = function(point)
    local model = gb.Sequential { gb.layers.Dense(point.width, { input_shape = { 784 } }), gb.layers.Dense(10) }
    model:compile { optimizer = "sgd", loss = "mse" }
    local row = gb.measure.training(model, gb.datasets.mnist("train"):batch(32):repeated())
    row.nothing = point.width == 8 and 0 or 5
    return row
  end,
  charts = {
    gb.chart.bar { x = "width", y = "nothing" }, gb.chart.distribution { series = "width", log_x = 10 },
    gb.chart.course { series = "width", log_y = 10 },
  },
}

-- No row, and so no chart.
gb.experiment {
  name = "nothing", title = "Nothing", axes = { gb.axis("n", { 1 }) }, skip = function() return "there is nothing" end,
  run = function() return {} end, charts = { gb.chart.line { x = "n", y = "loss" } },
}
