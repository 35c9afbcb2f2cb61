-- Points that take no time; rows of 1 KB, or of 200 KB with as many samples where LONG is set. Says which point begins.
local gb = require "gpubench"

local long = os.getenv "LONG"
local values, samples = {}, {}
for i = 1, long and 12 or 60 do values[i] = i end
for i = 1, long and 20000 or 5 do samples[i] = i * 1e-6 end
gb.experiment { name = "sweep", title = "Points", axes = { gb.axis("n", values) }, run = function(point)
  print("begin " .. point.n)
  io.stdout:flush()
  return { text = ("x"):rep(long and 200000 or 1000), v = point.n, samples = samples, ["late_" .. point.n % 3] = 1 }
end, charts = { gb.chart.line { x = "n", y = "v" } } }
