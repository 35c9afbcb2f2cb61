local gb = require "gpubench"
local axis = require "gpubench.axis"
local sweep = require "gpubench.sweep.points"
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
    testing.raises("--set workers=" .. text .. ": possible: whole numbers from 1, auto", axis.override,
      workers, { text })
  end
  testing.equal(sweep.plain { workers }, { { name = "workers", values = { 1, "auto" } } })
end)

testing.case("mistakes in an axis' options are named", function()
  testing.raises("gb.axis 'x': unknown option 'close' (did you mean 'closed'?) (known: closed, accepts)",
    gb.axis, "x", { 1 }, { close = true })
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
  testing.raises("gb.experiment: the axes make 2000000 points (1000 of a, 1000 of b, 2 of c); "
    .. "at most 1000000 are possible",
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

testing.case("ranges of numbers: steps and factors", function()
  local function set(values, ...)
    return axis.override(gb.axis("n", values), { ... }).values
  end
  testing.equal(set({ 1 }, "1..4"), { 1, 2, 3, 4 })
  testing.equal(set({ 1 }, "1..1000*4", "7"), { 1, 4, 16, 64, 256, 7 })
  testing.equal(set({ 1 }, "10..30+10"), { 10, 20, 30 })
  testing.equal(set({ 0.5 }, "0..1+0.25"), { 0, 0.25, 0.5, 0.75, 1 })
  testing.equal(set({ 0.5 }, "0..0.3+0.1")[4] ~= nil, true, "steps that no float holds exactly reach the end")
  testing.equal(set({ 1 }, "-2..0"), { -2, -1, 0 })
  testing.equal(set({ "a" }, "1..3"), { "1..3" }, "an axis of names has no ranges")
  for _, wrong in ipairs { "4..1", "1..8*1", "0..8*2", "-1..8*2", "1..8+0", "1..8+-1", "1..8+x", "1..8*" } do
    testing.raises("--set n=" .. wrong .. ": a range rises: ", set, { 1 }, wrong)
  end
  testing.raises("--set n=1..1e9: more than 100000 values", set, { 1 }, "1..1e9")
  testing.raises("--set n: the value 2 is there twice", set, { 1 }, "1..2", "2")
  testing.equal(#set({ 1 }, "9223372036854775806..9223372036854775807"), 2, "the largest integers do not wrap around")
  local even = gb.axis("n", { 2 }, { accepts = function(value) return value % 2 == 0, "even numbers" end })
  testing.raises("--set n=1: possible: even numbers", axis.override, even, { "1..4" })
end)

testing.case("parameters have one value, which the command line may replace", function()
  local param, options = require "gpubench.param", gb._native.options
  local before = options.axes
  options.axes = { epochs = { "3" }, many = { "1", "2" }, word = { "x" } }
  testing.equal({ gb.param("epochs", 5), gb.param("rate", 0.5), gb.param("word", "y") }, { 3, 0.5, "x" })
  testing.raises("--set many: 2 values; a parameter has one, and an axis (gb.axis) is swept over", gb.param, "many", 1)
  testing.raises("gb.param: 'epochs' is there twice", gb.param, "epochs", 1)
  testing.raises("gb.param: argument #2: number or string or boolean expected, got no value", gb.param, "none")
  options.axes = { flag = { "maybe" } }
  testing.raises("--set flag=maybe: a boolean is expected, such as true", gb.param, "flag", true)
  options.axes = { size = { "3" } }
  local function even(value) return value % 2 == 0, "even numbers" end
  testing.raises("--set size=3: possible: even numbers", gb.param, "size", 2, { accepts = even })
  options.axes = before
  local axes = { gb.axis("n", { 1 }) }
  testing.equal(sweep.override(axes, { epochs = { "3" } })[1].values, { 1 })
  testing.raises("--set epoch: there is no such axis (axes: n; parameters: epochs, rate, "
    .. "word) (did you mean 'epochs'?)",
    sweep.override, axes, { epoch = { "3" } })
  testing.raises("gb.experiment: the axis 'rate' is the name of a gb.param too; choose another name", gb.experiment,
    { name = "p", title = "t", axes = { gb.axis("rate", { 1 }) }, run = print })
  for name in pairs(param.values) do param.values[name] = nil end
end)

testing.case("workers: AUTOTUNE by its name", function()
  local workers = require "gpubench.helpers.workers"
  testing.equal({ workers.calls "autotune", workers.calls(4) }, { gb.AUTOTUNE, 4 })
  testing.equal(workers.axis().values[#workers.axis().values], "autotune")
end)
