local gb = require "gpubench"
local plan = require "gpubench.sweep.plan"
local sweep = require "gpubench.sweep.points"
local testing = require "testing"

local options = gb._native.options
local axes = { gb.axis("n", { 1, 2.5, "x" }), gb.axis("flag", { true, false }) }
local points = sweep.points(axes)

-- New in each run of this test, whose folder stays.
local name_of_experiment = string.format("plan_test_%d", gb.clock() * 1e6 // 1)

local function planned(declaration)
  declaration.name = declaration.name or name_of_experiment
  return plan.of(declaration, axes, points)
end

testing.case("skipped points take no time, others as the script says, or one measurement", function()
  local function skip(point)
    if point.n == 1 then return "one" end
    if point.n == "x" then gb.skip "letters" end
  end
  local result = planned { skip = skip }
  testing.equal(result.skipped[1] .. " " .. result.skipped[6], "one letters")
  testing.equal(result.seconds, { 0, 0, options.point_s, options.point_s, 0, 0 })
  result = planned { skip = skip, seconds = function(point, one) return point.flag and one + 1 or 7 end }
  testing.equal(result.seconds, { 0, 0, options.point_s + 1, 7, 0, 0 })
  testing.equal(plan.total(result), string.format("2 points: %s to %s, a guess (no earlier run has these points "
    .. "and options); 4 skipped", gb.format.seconds((options.point_s + 8) / 2),
      gb.format.seconds((options.point_s + 8) * 2)))
  testing.equal(plan.total(planned { skip = function() return "all" end }), "0 points; 6 skipped")
end)

testing.case("what the script's functions do wrong is kept for the one who asks, and spoils no plan", function()
  for text, seconds in pairs {
    ["seconds must return a number of seconds from 0; it returned nil at n=1 flag=true"] = function() end,
    ["it returned -1 at n=1"] = function() return -1 end,
    ["it returned soon at n=1"] = function() return "soon" end,
    ["it returned inf at n=1"] = function() return math.huge end,
    ["it returned -nan"] = function() return 0 / 0 end,
    ["broken"] = function() error "broken" end,
  } do
    local result = planned { seconds = seconds }
    testing.contains(result.failure:gsub("returned nan", "returned -nan"), text)
    testing.equal(result.seconds[1], options.point_s)
  end
  local result = planned { skip = function(point) return point.m end }
  testing.contains(result.failure, "point: there is no axis 'm'")
  testing.equal(result.seconds[6], options.point_s)
end)

testing.case("no point takes longer than --timeout", function()
  options.timeout_s = 0.25
  testing.equal(planned {}.seconds[1], 0.25)
  options.timeout_s = nil
end)

-- A run of the experiment with a time for each point, as it lies in the folder of results.
local function keep_run(times, change)
  local run = gb._native.results.new_run {
    experiment = name_of_experiment, title = "t", axes = sweep.names(axes), out = options.out,
  }
  local given = { quick = options.quick, budget_s = options.budget_s, threads = options.threads, processes = 1 }
  run:set_info { options = change and change(given) or given }
  for index, time in pairs(times) do
    local point = points[index]
    local call = gb._native.results.call({ { row = { n = point.n, flag = point.flag } } }, {})
    run:take(call, index, 1, time)
  end
  run:finish { status = "done", charts = {}, expectations = {} }
  return run:name()
end

testing.case("a run of these points with these options says how long they take", function()
  local all = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 }
  local name = keep_run(all)
  testing.equal(planned {}.seconds, all)
  testing.equal(plan.total(planned {}), "6 points: 21 s, as in the run " .. name)
  local result = planned { skip = function(point) return point.n == 1 and "one" end,
    seconds = function() return 99 end }
  testing.equal(result.seconds, { 0, 0, 3.0, 4.0, 5.0, 6.0 })
  testing.equal(plan.total(result), "4 points: 18 s, as in the run " .. name .. "; 2 skipped")
  testing.equal(planned({ name = name_of_experiment .. "_other" }).run, nil)
  testing.equal(plan.of({ name = name_of_experiment }, { gb.axis("n", { 1, 4 }) },
    sweep.points { gb.axis("n", { 1, 4 }) }).run, nil)

  -- Runs that say nothing of these points are passed over for older ones.
  keep_run { 9, 9, 9 }
  testing.equal(planned {}.run, name)
  testing.equal(planned({ skip = function(point) return point.n ~= 1 and "not one" end }).seconds,
    { 9.0, 9.0, 0, 0, 0, 0 })
  for change, value in pairs { quick = not options.quick, budget_s = 77, timeout_s = 1, device = "cpu:0", threads = 3,
    processes = 2 } do
    keep_run({ 8, 8, 8, 8, 8, 8 }, function(given)
      given[change] = value
      return given
    end)
    testing.equal(planned {}.run, name)
  end
end)

testing.case("runs that cannot be read are passed over", function()
  local name = keep_run { 1, 2, 3, 4, 5, 6 }
  local newer = keep_run { 2, 2, 2, 2, 2, 2 }
  testing.equal(planned {}.run, newer)
  local folder = options.out .. "/results/" .. name_of_experiment .. "/" .. newer .. "/"
  for file, text in pairs { ["run.json"] = "{", ["results.csv"] = "a\r\n" } do
    local kept <close> = assert(io.open(folder .. file))
    local before = kept:read "a"
    local damaged = assert(io.open(folder .. file, "w"))
    damaged:write(text)
    damaged:close()
    testing.equal(planned {}.run, name)
    local mended = assert(io.open(folder .. file, "w"))
    mended:write(before)
    mended:close()
  end
  testing.equal(planned {}.run, newer)
end)
