-- cpu_preprocessing: its ways do the same work, and its claims see each of them.
local gb = require "gpubench"
local experiments = require "declared"
local input_rows = require "input_rows"
local testing = require "testing"

local with = experiments.with
gb._native.keep_configuration()
input_rows.make_results_folder()
local declaration = experiments.of "cpu_preprocessing"

testing.case("every way takes the root once, and tells when its first step ended", function()
  local now, first_losses = 0, {}
  local function clock() now = now + 1 return now end
  local function loop(step, input)
    for x, y in input:iter() do
      first_losses[#first_losses + 1] = step(x, y):item()
      break
    end
    return { input_wait_share = 0.5 }
  end
  with(gb.datasets, { mnist = input_rows.small_mnist }, function()
    with(gb.measure, { loop = loop }, function()
      with(gb, { clock = clock }, function()
        for _, input in ipairs { "pixels", "jpeg" } do
          first_losses = {}
          for _, where in ipairs { "script_loop", "serial_map", "parallel_map", "device" } do
            local rows = experiments.rows_of(declaration,
              { device = gb.devices()[1], input = input, where = where, workers = "autotune" })
            testing.equal(rows[1].status .. ": " .. rows[1].detail,
              "ok: no shares: the time to the first step alone is measured")
            testing.equal({ rows[1].measured, rows[1].first_step_s, rows[2].measured }, { "start", 1, "steps" })
            testing.near(first_losses[#first_losses], first_losses[1], 1e-4)
          end
        end
      end)
    end)
  end)
end)

testing.case("the claims see every way", function()
  local function judged(starts, waits)
    return experiments.verdicts(declaration,
        input_rows.of(declaration, function() return { "start", "steps" } end, function(row)
      local index = input_rows.index_of(declaration, "where", row.where)
      if row.measured == "start" then
        row.first_step_s = starts[index]
      else
        row.input_wait_share, row.examples_per_s = waits[index], 1 / waits[index]
      end
    end))
  end
  local starts, waits = { 1, 0.1, 0.09, 0.08 }, { 0.01, 0.5, 0.2, 0.1 }
  testing.equal(judged(starts, waits), experiments.repeated("confirmed", 5))
  testing.equal(judged({ 0.3, 0.1, 0.09, 0.08 }, waits),
    input_rows.replaced(experiments.repeated("confirmed", 5), 1, "refuted"))
  for index = 3, 4 do  -- the parallel map, the device
    local late = table.move(starts, 1, 4, 1, {})
    late[index] = 0.6
    testing.equal(judged(late, waits), input_rows.replaced(experiments.repeated("confirmed", 5), index - 1, "refuted"))
    local idle = table.move(waits, 1, 4, 1, {})
    idle[index] = 0.45
    testing.equal(judged(starts, idle), input_rows.replaced(experiments.repeated("confirmed", 5), index + 1, "refuted"))
  end
end)
