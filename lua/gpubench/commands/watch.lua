-- `gpubench watch -- COMMAND`: runs a job that is no script of gpubench, unchanged, and says why it waits.
local native = require("gpubench.native")._native

return function(options)
  local seconds = options["for"] and tonumber((options["for"]:gsub("s$", "")))
  if options["for"] and not (seconds and seconds > 0) then
    native.fail(("watch: --for %s is no time in seconds, such as 60s"):format(native.results.one_line(options["for"])))
  end
  native.results.watch(options.command, {
    out = native.options.out, style = native.options.style, seconds = seconds, stop = options.stop, json = options.json,
    at = options.at, window_steps = options.steps, prove_steps = options.prove and (options.steps or 30) or nil,
  })
end
