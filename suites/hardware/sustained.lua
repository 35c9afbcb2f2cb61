local gb = require "gpubench"

-- Heat comes slowly. The rounds follow each other at once, so that the load lasts as long as all of them: 6 of them
-- must fit into 20 times the budget.
local seconds = gb.param("seconds", 1)

gb.experiment {
  name  = "sustained",
  title = "A sound device keeps its rate under load",
  question = "Does the device keep its clock when it works without a pause?",
  cause    = "Heat, a power limit, or a power supply that gives in: the clock falls while the load goes on.",
  remedy   = "Look at temperature, power and what held the clock down (throttle); clean fans, "
    .. "check the air and the limit.",
  reading  = "Rate of the last quarter of the time over that of the first; clock and power where there are sensors.",
  axes  = { gb.axis("device", gb.devices()) },
  columns = { gb.column("kept_share", { unit = "share", better = "higher", kind = "time" }) },
  seconds = function() return seconds end,
  run = function(point)
    return gb.device(point.device, function()
      local size = point.device:find "^gpu" and 8192 or 1024
      local a = gb.random.uniform { size, size }
      local step = gb.compile(function(x) return x:matmul(x):sum() end)
      -- Gives the loop something to count.
      local input = gb.data.Dataset.from_tensor_slices(gb.zeros { 64 }):batch(1)
      -- All of its time, however soon the median is known.
      local row = gb.measure.loop(function() return step(a):item() end, input, { budget = seconds, min_time = seconds })
      local function mean(first, last)
        local sum = 0
        for index = first, last do sum = sum + row.samples[index] end
        return sum / (last - first + 1)
      end
      local quarter = #row.samples // 4
      if quarter > 0 then row.kept_share = mean(1, quarter) / mean(#row.samples - quarter + 1, #row.samples) end
      row.device, row.batch_size = point.device, nil
      row.examples_per_s, row.examples_low_per_s, row.examples_high_per_s = nil, nil, nil
      return row
    end)
  end,
  charts = { gb.chart.bar { x = "device", y = "kept_share" }, gb.chart.bar { x = "device", y = "step_time_s" } },
  expect = {
    gb.expect.at_least {
      y = "kept_share", value = 0.9,
      claim = "at the end of the time the rate is at least 90 % of that at its beginning",
      answer = "The device keeps its rate under load",
    },
  },
}
