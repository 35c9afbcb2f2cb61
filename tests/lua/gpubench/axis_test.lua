local gb = require "gpubench"
local axis = require "gpubench.axis"
local sweep = require "gpubench.sweep"
local testing = require "testing"

testing.case("values keep their order and are copied", function()
  local values = { 3, 1, "auto" }
  local made = gb.axis("workers", values)
  values[1] = 99
  testing.equal(made, { name = "workers", values = { 3, 1, "auto" } })
end)

testing.case("mistakes are named", function()
  testing.raises("gb.axis: argument #1: string expected, got number", gb.axis, 3, {})
  testing.raises("gb.axis: '2x' cannot name a column", gb.axis, "2x", { 1 })
  testing.raises("gb.axis: argument #2: array expected, got no value", gb.axis, "x")
  testing.raises("gb.axis: argument #2: array expected, got table", gb.axis, "x", { a = 1 })
  testing.raises("gb.axis 'x': at least one value is needed", gb.axis, "x", {})
  testing.raises("gb.axis 'x': value 2: number or string or boolean expected, got table", gb.axis, "x", { 1, {} })
  testing.raises("gb.axis 'x': the value 1 is there twice", gb.axis, "x", { 1, 2, 1 })
end)

testing.case("texts from the command line take the type of the axis", function()
  testing.equal(axis.override(gb.axis("n", { 1, 2 }), { "8", "0.5" }).values, { 8, 0.5 })
  testing.equal(axis.override(gb.axis("on", { true }), { "false" }).values, { false })
  testing.equal(axis.override(gb.axis("s", { "a" }), { "12" }).values, { "12" })
  testing.equal(axis.override(gb.axis("w", { 1, "auto" }), { "auto", "4" }).values, { "auto", 4 })
  testing.raises("--set n=many: a number is expected, such as 1", axis.override, gb.axis("n", { 1 }), { "many" })
end)

testing.case("a closed axis has its own values alone", function()
  local place = gb.axis("place", { "host", "device" }, { closed = true })
  testing.equal(axis.override(place, { "device" }).values, { "device" })
  testing.raises("--set place=gpu: possible: host, device", axis.override, place, { "host", "gpu" })
  local size = gb.axis("size", { 28, 56 }, { closed = true })
  testing.equal(axis.override(size, { "56" }).values, { 56 })
  testing.raises("--set size=57: possible: 28, 56", axis.override, size, { "57" })
  testing.raises("--set size=big: possible: 28, 56", axis.override, size, { "big" })
end)

testing.case("an axis may tell what it accepts", function()
  local function accepts(value)
    return value == "auto" or math.type(value) == "integer" and value > 0, "whole numbers from 1, auto"
  end
  local workers = gb.axis("workers", { 1, "auto" }, { accepts = accepts })
  testing.equal(axis.override(workers, { "auto", "16" }).values, { "auto", 16 })
  for _, text in ipairs { "0", "1.5", "automatic" } do
    testing.raises("--set workers=" .. text .. ": possible: whole numbers from 1, auto", axis.override, workers, { text })
  end
  testing.equal(sweep.plain { workers }, { { name = "workers", values = { 1, "auto" } } })
end)

testing.case("mistakes in an axis' options are named", function()
  testing.raises("gb.axis 'x': unknown option 'close' (known: closed, accepts)", gb.axis, "x", { 1 }, { close = true })
  testing.raises("gb.axis 'x': option 'accepts': function expected, got table", gb.axis, "x", { 1 }, { accepts = {} })
  testing.raises("gb.axis 'x': option 'closed' leaves nothing to 'accepts'", gb.axis, "x", { 1 },
    { closed = true, accepts = function() return true end })
end)

testing.case("a sweep is the product of its axes, the last one fastest", function()
  local axes = { gb.axis("a", { 1, 2 }), gb.axis("b", { "x", "y" }) }
  local points = sweep.points(axes)
  testing.equal(#points, 4)
  testing.equal(sweep.describe(axes, points[2]), "a=1 b=y")
  testing.equal(sweep.describe(axes, points[3]), "a=2 b=x")
  testing.equal(#sweep.points {}, 1)
  testing.equal(next(sweep.points({})[1]), nil)
  testing.equal({ points[0], points[5], points.a }, {})
  local listed = {}
  for index, point in ipairs(points) do listed[index] = point.a .. point.b end
  testing.equal(listed, { "1x", "1y", "2x", "2y" })
  testing.raises("point: there is no axis 'c' (axes: a, b)", function() return points[1].c end)
end)

testing.case("points are counted before one is made", function()
  local values = {}
  for i = 1, 1000 do values[i] = i end
  local axes = { gb.axis("a", values), gb.axis("b", values), gb.axis("c", { 1, 2 }) }
  testing.raises("gb.experiment: the axes make 2000000 points (1000 of a, 1000 of b, 2 of c); at most 1000000 are possible",
    sweep.points, axes)
  axes[3] = nil
  testing.equal(sweep.describe(axes, sweep.points(axes)[1000000]), "a=1000 b=1000")
end)

testing.case("an axis has no value that is not a number", function()
  testing.raises("gb.axis 'x': value 2 is not a number (nan)", gb.axis, "x", { 1, 0 / 0 })
end)

testing.case("an override names an axis that there is", function()
  local axes = { gb.axis("device", { "cpu:0", "cpu:1" }), gb.axis("n", { 1 }) }
  testing.equal(sweep.override(axes, { n = { "4" } }, nil)[2].values, { 4 })
  testing.equal(sweep.override(axes, {}, "cpu:1")[1].values, { "cpu:1" })
  testing.raises("--set m: there is no such axis (axes: device, n)", sweep.override, axes, { m = { "1" } })
end)
