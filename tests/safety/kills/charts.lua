-- A run of few milliseconds with a chart; its name is that of this file, or NAME.
local gb = require "gpubench"

gb.experiment { name = os.getenv "NAME" or "charts", title = "Points", axes = { gb.axis("n", { 1, 2, 3 }) },
  charts = { gb.chart.line { x = "n", y = "v", name = "c" } }, run = function(point)
  return { v = point.n + 0.5, text = ("x"):rep(1000) }
end }
