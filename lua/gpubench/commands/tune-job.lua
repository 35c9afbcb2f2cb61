-- `gpubench tune -- COMMAND`: measures remedies on a job that is no script of gpubench, and prints what helps.
local native = require("gpubench.native")._native

local nothing_to_judge = 3

return function(options)
  local text, is_judged = native.results.tune_job(options.command, {
    out = native.options.out, style = native.options.style, budget = options.budget, steps = options.steps,
    only = options.remedy, allows_learning = options.allow == "learning", dry_run = options.dry_run,
    json = options.json,
  })
  io.write(text)
  return is_judged and 0 or nothing_to_judge
end
