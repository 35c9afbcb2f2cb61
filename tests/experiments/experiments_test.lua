-- What the experiments say of themselves is true: their points are run by themselves, apart from a sweep.
local gb = require "gpubench"
local chart = require "gpubench.chart"
local experiments = require "declared"
local input_rows = require "input_rows"
local sweep = require "gpubench.sweep.points"
local testing = require "testing"

local native = gb._native
local declared, row_of, with = experiments.of, experiments.row_of, experiments.with

native.keep_configuration()

testing.case("every experiment has its claims and charts", function()
  local count = 0
  for _, path in ipairs(native.system.scripts_in "experiments") do
    local declaration = declared(path:match "([^/]+)%.lua$")
    testing.is_true(#declaration.expect > 0, path .. " claims")
    testing.is_true(#declaration.charts > 0, path .. " charts")
    count = count + 1
  end
  testing.is_true(count >= 11, "experiments")
end)

testing.case("architecture: an accuracy does not depend on how long the speed was measured", function()
  local declaration = declared "architecture"
  local accuracies = {}
  for steps = 1, 2 do
    local function train(model, input)
      model:fit(input:take(100 * steps), { epochs = 1, verbose = 0 })
      return {}
    end
    with(gb.measure, { training = train }, function()
      local row = row_of(declaration, { device = gb.devices()[1], family = "dense", width = 8 })
      testing.equal(row.status .. (row.detail or ""), "ok")
      accuracies[steps] = row.test_accuracy
    end)
  end
  testing.equal(accuracies[1], accuracies[2])
end)

testing.case("attention: naive and fused compute the same at every length", function()
  local declaration = declared "attention"
  with(gb.measure, { loop = function() return {} end }, function()
    for _, length in ipairs { 128, 256 } do
      local results = {}
      for index, attention in ipairs { "naive", "fused" } do
        local row = row_of(declaration, { device = gb.devices()[1], length = length, attention = attention })
        testing.equal(row.status .. (row.detail or ""), "ok")
        results[index] = row.result
      end
      testing.is_true(math.abs(results[1] / results[2] - 1) < 1e-5, "results")
    end
  end)
end)

testing.case("device_placement: as many crossings as it says, on the devices that it names", function()
  local declaration = declared "device_placement"
  local device = gb.device
  for _, crossings in ipairs(declaration.axes[1].values) do
    local places = {}
    local function placed(name, body)
      local made = device(name, body)  -- a device that is not there places nothing
      places[#places + 1] = name
      return made
    end
    with(gb, { device = placed }, function()
      with(gb.measure, { training = function() return {} end }, function()
        local row = row_of(declaration, { crossings = crossings, width = 8, preprocessing = "host" })
        testing.equal(row.status .. (row.detail or ""), "ok")
        local changes, used = 0, {}
        for index, name in ipairs(places) do
          used[name] = true
          if index > 1 and name ~= places[index - 1] then changes = changes + 1 end
        end
        testing.equal(changes, crossings)
        testing.equal(places[1], places[#places])
        for name in row.device:gmatch "[^+]+" do
          testing.is_true(used[name], name)
          used[name] = nil
        end
        testing.equal(next(used), nil)
      end)
    end)
  end
end)

testing.case("device_placement: preprocessing is where the point says, and a missing device is "
    .. "replaced by the best", function()
  local declaration = declared "device_placement"
  local rows = {}
  for index, place in ipairs { "host", "device" } do
    rows[index] = row_of(declaration, { crossings = 0, width = 8, preprocessing = place })
    testing.equal(rows[index].status .. (rows[index].detail or ""), "ok")
    testing.equal({ rows[index].missing_refused, rows[index].fell_back }, { 1, 1 })
  end
  -- 784 numbers of 4 bytes or of 1, and 10 labels of 4.
  testing.equal({ rows[1].bytes_per_example, rows[2].bytes_per_example }, { 4 * 794.0, 784 + 40.0 })
  local judged = experiments.judge(declaration, rows)
  testing.equal({ judged[4].verdict, judged[5].verdict, judged[6].verdict }, { "confirmed", "confirmed", "confirmed" })
end)

testing.case("cpu_threads: the device has the threads of the point", function()
  local declaration = declared "cpu_threads"
  for _, threads in ipairs(declaration.axes[2].values) do
    local description
    with(gb.measure, { training = function()
      description = gb.config.device_description "cpu:0"
      return {}
    end }, function()
      local row = row_of(declaration, { batch_size = 8, threads = threads })
      testing.equal(row.status .. (row.detail or ""), "ok")
    end)
    testing.contains(description, threads == 1 and "1 thread" or threads .. " threads")
  end
end)

testing.case("architecture: alignment is not measurable on a CPU, with the reason", function()
  if #gb.config.list_physical_devices "GPU" > 0 then return testing.note() end
  local judged = experiments.judge(declared "architecture", {})
  testing.equal({ judged[4].verdict, judged[4].reason },
    { "not measurable here", "there is no GPU here, whose tensor cores work in tiles" })
end)

for _, name in ipairs { "augmentation", "cpu_preprocessing", "input_pipeline" } do
  local declaration = declared(name)
  testing.case(name .. ": values that it cannot serve are refused with the possible ones", function()
    for _, axis in ipairs(declaration.axes) do
      if axis.name ~= "device" then
        testing.raises("--set " .. axis.name .. "=nonsense: possible: ", sweep.override, declaration.axes,
          { [axis.name] = { "nonsense" } })
      end
    end
    testing.raises("--set workers=0: possible: whole numbers from 1, autotune", sweep.override, declaration.axes,
      { workers = { "0" } })
  end)

  testing.case(name .. ": no chart has more series than there are colours", function()
    local axes = declaration.axes
    axes[1].values = { "gpu:0", "cpu:0" }
    for _, one in ipairs(chart.expand(declaration.charts, axes)) do
      local series = 1
      for _, axis in ipairs(axes) do
        local fixed = one.where and one.where[axis.name] ~= nil
        if axis.name ~= one.x and not fixed then series = series * #axis.values end
      end
      testing.is_true(series <= 8, (one.name or one.y) .. ": " .. series .. " series")
    end
    axes[1].values = gb.devices()
  end)

  testing.case(name .. ": --quick takes less than a minute", function()
    local seconds, one = 0, 0.8
    for _, point in ipairs(input_rows.points_of(declaration)) do
      seconds = seconds + (declaration.seconds and declaration.seconds(point, one) or one)
    end
    testing.is_true(seconds < 60, string.format("%g s", seconds))
  end)
end
