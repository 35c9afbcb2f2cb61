-- `gpubench explain`: why the device was not busy, in words with evidence, and where the time of a step went; of a run, or
-- of traces of other programs' profilers, of which it makes a run first.
local native = require("gpubench.native")._native

-- The run to explain: the one that is named, or a new one of the traces.
local function run_of(options)
  local places, out = options.run, native.options.out
  local traces = 0
  for _, place in ipairs(places) do traces = traces + (native.results.is_trace(place) and 1 or 0) end
  if traces == 0 and #places == 1 then return places[1], false end
  return native.results.run_of_traces(places, out, options.step), true
end

return function(options)
  local run, is_of_trace = run_of(options)
  local text, status = native.results.explain(run, native.options.out, {
    point = options.point, words = options.words, json = options.json, style = native.options.style,
  })
  io.write(text)
  if is_of_trace and not options.json then io.write("\nrun: ", run, "\n") end
  -- A run of a script has an exit status of its own.
  return is_of_trace and status == "cannot_tell" and 2 or 0
end
