-- Intervals that modules of the library add to rows.
local gb = require "gpubench"
local input_wait = require "gpubench.input_wait"
local testing = require "testing"
local trials = require "gpubench.trials"
local workers = require "gpubench.workers"

testing.case("input wait: what is not waiting takes as long in every step", function()
  -- Steps of 10 ms [8, 16] of 32 examples, of which 4 ms are work.
  local row = input_wait {
    input_wait_share = 0.6, examples_per_s = 3200, examples_low_per_s = 2000, examples_high_per_s = 4000,
  }
  testing.near(row.input_wait_low_share, 0.5, 1e-12)
  testing.near(row.input_wait_high_share, 0.75, 1e-12)
end)

testing.case("input wait: within 0 and 1, and only where there is an interval to take it from", function()
  local row = input_wait {
    input_wait_share = 0.01, examples_per_s = 100, examples_low_per_s = 90, examples_high_per_s = 110,
  }
  testing.equal(row.input_wait_low_share, 0)
  testing.equal(input_wait({ input_wait_share = 0.5, examples_per_s = 1 }).input_wait_low_share, nil)
  row = { input_wait_share = 0.5, input_wait_low_share = 0.4, examples_per_s = 1, examples_low_per_s = 1, examples_high_per_s = 1 }
  testing.equal(input_wait(row).input_wait_low_share, 0.4)
end)

testing.case("trials: their median and range", function()
  local row = trials({}, "first_step_s", { 6, 1, 3, 2, 5, 4 })
  testing.equal(row, { first_step_s = 3.5, first_step_low_s = 1, first_step_high_s = 6 })
  testing.equal(trials({}, "loss", { 7, 6, 5, 4, 3, 2, 1 }).loss, 4)
  testing.raises("trials: 5 values of loss; an interval of 95 % takes 6", trials, {}, "loss", { 1, 2, 3, 4, 5 })
end)

testing.case("trials: the range holds the median in 97 % of all cases", function()
  math.randomseed(3)
  local held, count = 0, 4000
  for _ = 1, count do
    local values = {}
    for i = 1, 6 do values[i] = math.random() ^ 3 end  -- whose median is 1/8
    local row = trials({}, "figure", values)
    if row.figure_low <= 0.125 and 0.125 <= row.figure_high then held = held + 1 end
  end
  testing.near(held / count, 1 - 2 ^ -5, 0.01)
end)

testing.case("workers: AUTOTUNE by its name", function()
  testing.equal({ workers.calls "autotune", workers.calls(4) }, { gb.AUTOTUNE, 4 })
  testing.equal(workers.axis().values[#workers.axis().values], "autotune")
end)
