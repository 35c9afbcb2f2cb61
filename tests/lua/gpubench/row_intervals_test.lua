-- Intervals that modules of the library add to rows.
local gb = require "gpubench"
local input_wait = require "gpubench.helpers.input_wait"
local testing = require "testing"
local workers = require "gpubench.helpers.workers"

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
  row = { input_wait_share = 0.5, input_wait_low_share = 0.4, examples_per_s = 1, examples_low_per_s = 1,
    examples_high_per_s = 1 }
  testing.equal(input_wait(row).input_wait_low_share, 0.4)
end)

testing.case("workers: AUTOTUNE by its name", function()
  testing.equal({ workers.calls "autotune", workers.calls(4) }, { gb.AUTOTUNE, 4 })
  testing.equal(workers.axis().values[#workers.axis().values], "autotune")
end)
