-- `gpubench watch -- COMMAND`: runs a job that is no script of gpubench, unchanged, and says why it waits.
local native = require("gpubench.native")._native

local units = { [""] = 1, s = 1, m = 60, h = 3600 }

return function(options)
  local number, unit = (options["for"] or ""):match "^([%d.]+)([smh]?)$"
  local seconds = number and tonumber(number) and tonumber(number) * units[unit]
  if options["for"] and not (seconds and seconds > 0) then
    native.fail(("watch: --for %s is no time, such as 60s, 5m or 1h"):format(native.results.one_line(options["for"])))
  end
  native.results.watch(options.command, {
    out = native.options.out, style = native.options.style, seconds = seconds, stop = options.stop, json = options.json,
    at = options.at, window_steps = options.steps, prove_steps = options.prove and (options.steps or 30) or nil,
    against = options.against,
  })
end
