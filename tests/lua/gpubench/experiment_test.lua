local gb = require "gpubench"
local experiment = require "gpubench.experiment"
local testing = require "testing"

local sweeps = 0

local function sweep(options)
  sweeps = sweeps + 1
  local declaration = { name = "experiment_test_" .. sweeps,
    title = "a `title` with \"quotes\", commas, <script> and\na newline" }
  for key, value in pairs(options) do declaration[key] = value end
  return gb.experiment(declaration)
end

testing.case("one row per point, in the order of the sweep", function()
  local seen = {}
  local rows = sweep {
    axes = { gb.axis("a", { 1, 2 }), gb.axis("b", { "x", "y" }) },
    run = function(point)
      seen[#seen + 1] = point.a .. point.b
      return { figure = point.a * 1.5 }
    end,
  }
  testing.equal(seen, { "1x", "1y", "2x", "2y" })
  testing.equal({ #rows, rows[3].figure, rows[3].b, rows[3].status, rows[3].point }, { 4, 3.0, "x", "ok", 3 })
end)

testing.case("a point that fails is a row, and the sweep goes on", function()
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2, 3, 4 }) },
    skip = function(point) return point.n == 3 and "odd" or nil end,
    run = function(point)
      if point.n == 1 then error("broken") end
      if point.n == 2 then gb.skip("not here") end
      return { figure = 1 }
    end,
  }
  testing.equal({ rows[1].status, rows[2].status, rows[3].status, rows[4].status },
    { "error", "skipped", "skipped", "ok" })
  testing.contains(rows[1].detail, "broken")
  testing.contains(rows[1].detail, "experiment_test.lua:")
  testing.equal({ rows[2].detail, rows[3].detail }, { "not here", "odd" })
  testing.equal(experiment.status, 2)
  experiment.status = 0
end)

testing.case("a limit too small is an out_of_memory row, and the next point has its memory again", function()
  local rows = sweep {
    axes = { gb.axis("size", { 100000, 10 }) },
    run = function(point)
      gb.config.set_memory_limit("cpu:0", 1 << 16)
      return { sum = gb.ones({ point.size }):sum():item() }
    end,
  }
  testing.equal({ rows[1].status, rows[2].status, rows[2].sum }, { "out_of_memory", "ok", 10.0 })
  testing.equal(experiment.status, 0)
end)

testing.case("a row says where weights alone do not fit", function()
  local rows = sweep {
    axes = { gb.axis("width", { 10, 1000 }), gb.axis("batch", { 4, 4000 }) },
    run = function(point)
      gb.config.set_memory_limit("cpu:0", 1 << 20)
      local model = gb.Sequential { gb.layers.Dense(point.width, { input_shape = { 1000 } }) }
      model:compile { optimizer = "adam", loss = "mean_squared_error" }
      model:train_on_batch(gb.ones { point.batch, 1000 }, gb.ones { point.batch, point.width })
      return {}
    end,
  }
  local found = {}
  for index, row in ipairs(rows) do found[index] = { row.status, row.memory_of or "" } end
  testing.equal(found, {
    { "ok", "" }, { "out_of_memory", "" }, { "out_of_memory", "variables" }, { "out_of_memory", "variables" },
  })
end)

testing.case("a point that keeps tensors is unreliable", function()
  local kept
  local rows = sweep { run = function() kept = gb.ones { 1000 } return {} end }
  testing.contains(rows[1].memory_quality,
    "of cpu:0 still in use after the point: something outside run keeps its tensors")
  testing.is_true(kept)
  kept = nil
  collectgarbage()
end)

testing.case("a run may return several rows", function()
  local rows = sweep {
    axes = { gb.axis("n", { 1 }) },
    run = function() return { { kernel = "matmul" }, { kernel = "conv" } } end,
  }
  testing.equal({ #rows, rows[2].kernel, rows[2].n, rows[2].point }, { 2, "conv", 1, 1 })
end)

testing.case("an axis is a field of the point, and a misspelt one an error", function()
  local rows = sweep { axes = { gb.axis("batch", { 1 }) }, run = function(point) return { n = point.bach } end }
  testing.contains(rows[1].detail, "point: there is no axis 'bach' (axes: batch)")
  rows = sweep { run = function() return 3 end }
  testing.contains(rows[1].detail,
    "run must return a table of columns, as gb.measure.training does; it returned a number")
  experiment.status = 0
end)

testing.case("mistakes in the declaration are named", function()
  local function run() end
  testing.raises("gb.experiment: option 'name' is required: it names the folders of results", gb.experiment,
    { title = "t", run = run })
  testing.raises("gb.experiment: option 'run' is required: a function that measures a point "
    .. "and returns a table of columns",
    gb.experiment, { name = "n", title = "t" })
  testing.raises("gb.experiment: option 'run': function expected, got table", sweep, { run = {} })
  testing.raises("gb.experiment: the title is empty; it is the headline of the report", sweep,
    { run = run, title = " " })
  testing.raises("gb.experiment: column 2 is no name and not made by gb.column(name, options)", sweep,
    { run = run, columns = { "a", 2 } })
  testing.raises("gb.experiment: unknown option 'axis' (did you mean 'axes'?) (known: name, title, topic, needs, "
    .. "question, cause, remedy, reading, answer, axes, run, skip, seconds, columns, trials, charts, expect)",
    gb.experiment, { name = "n", title = "t", run = run, axis = {} })
  testing.raises("gb.experiment: the name '../up' cannot be a folder's", gb.experiment,
    { name = "../up", title = "t", run = run })
  testing.raises("gb.experiment: axis 1 is not made by gb.axis", sweep, { run = run, axes = { { 1, 2 } } })
  testing.raises('axes = { gb.axis("kind", { "a", "b" }), gb.axis("width", { 8, 16 }) }', sweep,
    { run = run, axes = { width = { 8, 16 }, kind = { "a", "b" } } })
  testing.raises("gb.experiment: the axis 'a' is there twice", sweep,
    { run = run, axes = { gb.axis("a", { 1 }), gb.axis("a", { 2 }) } })
  testing.raises("gb.experiment: chart 1 is not made by gb.chart.line", sweep, { run = run, charts = { { x = "a" } } })
  testing.raises("gb.experiment: expectation 1 is not made by gb.expect", sweep,
    { run = run, expect = { { x = "a" } } })
end)

testing.case("two experiments of one name are refused; a declaration that failed leaves its name free", function()
  local function run() return { figure = 1 } end
  testing.raises("the axis 'a' is there twice", sweep,
    { name = "twice", run = run, axes = { gb.axis("a", { 1 }), gb.axis("a", { 2 }) } })
  testing.equal(#sweep { name = "twice", run = run }, 1)
  testing.raises("gb.experiment: the script has declared an experiment 'twice' already; each needs a name of its own",
    sweep, { name = "twice", run = run })
end)

testing.case("an experiment that measured no point leaves nothing to judge", function()
  local rows = sweep { run = function() gb.skip "not here" end }
  testing.equal({ rows[1].status, experiment.status }, { "skipped", 3 })
  sweep { run = function() error "broken" end }
  testing.equal(experiment.status, 2)
  sweep { run = function() gb.skip "not here" end }
  testing.equal(experiment.status, 2)
  experiment.status = 0
end)

testing.case("an experiment within another is refused, and the first goes on", function()
  local function run() return { figure = 1 } end
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2 }) },
    run = function(point)
      if point.n == 1 then gb.experiment { name = "within", title = "t", run = run } end
      return run()
    end,
  }
  testing.contains(rows[1].detail, "gb.experiment: it is called by the experiment 'experiment_test_")
  testing.equal({ rows[1].status, rows[2].status }, { "error", "ok" })
  experiment.status = 0
end)

testing.case("a row that cannot be written is its point's error, and the sweep goes on", function()
  local many = {}
  for k = 1, 1001 do many["c" .. k] = k end
  local bad = { { figure = {} }, { ["a,b"] = 1 }, { point_time_s = 3 }, { samples = "x" }, many }
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2, 3, 4, 5, 6 }) },
    run = function(point) return bad[point.n] or { figure = 1 } end,
  }
  testing.contains(rows[1].detail, "run returned a column that is no cell: 'figure': ")
  testing.contains(rows[2].detail, "'a,b' cannot name a column: letters, digits, '_', '-' and '.'")
  testing.contains(rows[3].detail, "run returned the column 'point_time_s', which the program fills in")
  testing.contains(rows[4].detail, "run returned samples that are no step times: array of number expected, got string")
  testing.contains(rows[5].detail, "columns; at most 1000 are possible")
  testing.equal({ rows[1].status, rows[4].status, rows[6].status, rows[6].n }, { "error", "error", "ok", 6 })
  testing.equal(experiment.status, 2)
  experiment.status = 0
end)

testing.case("a cell that its column does not take is its point's error, and the sweep goes on", function()
  local bad = { { quality = 5 }, { steps = "many" }, { cpu_lost_share = "x" }, { compute_low_share = true },
    { status = 3 } }
  local rows = sweep {
    axes = { gb.axis("n", { 1, 2, 3, 4, 5, 6 }) }, expect = { gb.expect.increasing { x = "n", y = "figure" } },
    run = function(point) return bad[point.n] or { figure = 1, quality = "ok", steps = 3 } end,
  }
  testing.contains(rows[1].detail,
    "run returned 5 in the column 'quality', which takes text: ok, or unreliable and why")
  testing.contains(rows[2].detail,
    "run returned 'many' in the column 'steps', which takes a number: steps that were measured")
  testing.contains(rows[3].detail, "run returned 'x' in the column 'cpu_lost_share', which takes a number")
  testing.contains(rows[4].detail, "run returned true in the column 'compute_low_share', which takes a number")
  testing.contains(rows[5].detail, "run returned the status 3; ok, out_of_memory, error, timeout, skipped are possible")
  testing.equal({ #rows, rows[6].status, rows[6].figure }, { 6, "ok", 1 })
  experiment.status = 0
  testing.raises("gb.experiment: the axis has 'small' in the column 'batch_size', which takes a number", sweep,
    { run = function() end, axes = { gb.axis("batch_size", { 1, "small" }) } })
end)

testing.case("axes are not named as what is measured", function()
  for _, name in ipairs { "status", "examples_per_s", "point" } do
    testing.raises("gb.experiment: the axis '" .. name .. "' is named as a column that is measured", sweep,
      { run = function() end, axes = { gb.axis(name, { 1 }) } })
  end
  testing.raises("'a,b' cannot name a column", sweep, { run = function() end, columns = { "a,b" } })
end)

testing.case("every point starts from what the script set before", function()
  gb._native.reset_devices()
  gb.config.set_logical_devices("cpu:0", { { memory_limit = 1 << 20 }, {} })
  gb.config.set_seed(7)
  local expected
  local function run()
    local value = gb.random.normal({ 1 }):item()
    expected = expected or value
    return { devices = #gb.devices(), limit = gb.config.memory_info("cpu:0").limit, same = value == expected }
  end
  for _ = 1, 2 do
    local rows = sweep { axes = { gb.axis("n", { 1, 2 }) }, run = run }
    for index = 1, 2 do
      testing.equal({ rows[index].devices, rows[index].limit, rows[index].same }, { 2, 1 << 20, true })
    end
  end
  gb._native.reset_devices()
  gb.config.set_logical_devices("cpu:0", { {} })
end)
