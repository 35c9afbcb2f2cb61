-- The GPU adds numbers, and the run.json of this run says what ran where.
local gb = require "gpubench"

gb.experiment {
  name = "gpu_check_devices",
  title = "What the checks ran on",
  axes = { gb.axis("count", { 1000 }) },
  columns = { "sum" },
  run = function(point)
    local sum = gb.ones({ point.count }):sum():item()
    if sum ~= point.count then error(string.format("%d ones add up to %g", point.count, sum)) end
    return { sum = sum }
  end,
}
