-- Rows that differ between two sides, some of them a little, some that fail: for pages of comparisons and trends.
local gb = require "gpubench"

local work_ms = gb.param("work_ms", 100)
local odd = [[<b>&amp; "q" 'a' `x` {/Bold y} _a^b 5 % ü 日本]]

gb.experiment {
  name = "sides", title = "Sides that are compared", question = "What became slower?",
  axes = { gb.axis("n", { 1, 2, 4, 8 }),
    gb.axis("way", { "plain", "a_long_name_of_a_way_that_has_no_blank_in_it", odd }) },
  columns = { "step_time_s", "examples_per_s", "input_wait_share", "compute_share" },
  run = function(point)
    if point.n == 8 and point.way == "plain" then return { status = "skipped", detail = "too large" } end
    local noise = 1 + 0.002 * math.random()
    local slow = point.way == odd and 1 or work_ms / 100
    local step_s = 1e-3 * point.n * slow * noise
    return {
      step_time_s = step_s, examples_per_s = point.n / step_s,
      compute_share = 0.8 / slow, input_wait_share = 1 - 0.8 / slow,
    }
  end,
  charts = {
    gb.chart.line { x = "n", y = "step_time_s", series = "way", log_x = 2 },
    gb.chart.bar { x = "way", y = "examples_per_s", where = { n = 1 } },
  },
}
