-- Declares a script that is slow for one known reason, with the same script as a person would mend it: what that gains
-- is the truth beside which `gpubench tune` stands. Run by tests/truth/run tune.
local gb = require "gpubench"

-- options: { name, title, remedy = the remedy that has to help, figure = examples_per_s unless given, run(is_mended) ->
-- row }
return function(options)
  gb.experiment {
    name = options.name, title = options.title, remedy = options.remedy,
    axes = { gb.axis("script", { "slow", "mended" }, { closed = true }) },
    run = function(point) return options.run(point.script == "mended") end,
    charts = { gb.chart.bar { x = "script", y = options.figure or "examples_per_s" } },
    expect = {
      gb.expect.faster {
        axis = "script", value = "mended", than = "slow", y = options.figure or "examples_per_s", factor = 1.1,
        claim = options.remedy .. " mends it: at least 1.1 times as good",
      },
    },
  }
end
