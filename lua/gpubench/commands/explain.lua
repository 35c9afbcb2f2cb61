-- `gpubench explain`: why the device was not busy, in words with evidence, and where the time of a step went; of a run,
-- or of traces of other programs' profilers, of which it makes a run first. With --rule: the times of traces as another
-- tool counts them.
local native = require("gpubench.native")._native
local results = native.results

-- The run to explain: the one that is named, or a new one of the traces; and for these whether it is slower.
local function run_of(options)
  local places, traces = options.run, 0
  for _, place in ipairs(places) do traces = traces + (results.is_trace(place) and 1 or 0) end
  local is_run = traces == 0 and #places == 1
  if is_run and not (options.against or options.step) then return places[1] end
  if is_run then
    native.fail(("explain: %s is no trace: --against and --step are about traces; gpubench compare compares runs")
      :format(results.one_line(places[1])))
  end
  return results.run_of_traces(places, { out = native.options.out, step = options.step, against = options.against })
end

-- The figures of another tool, which has no points, marks of steps or comparisons.
local function print_by_rule(options)
  for _, name in ipairs { "point", "words", "step", "against", "fail_if_slower" } do
    if options[name] then
      native.fail(("explain: --rule prints the figures of another tool, to which --%s does not apply; --json does")
        :format((name:gsub("_", "-"))))
    end
  end
  io.write(results.rule_tables(options.run, options.rule, options.json or false, native.options.style))
  return 0
end

return function(options)
  if options.rule then return print_by_rule(options) end
  local run, is_slower = run_of(options)
  local is_of_trace = is_slower ~= nil
  local text, status = results.explain(run, native.options.out, {
    point = options.point, words = options.words, json = options.json, style = native.options.style,
  })
  io.write(text)
  if is_of_trace and not options.json then io.write("\nrun: ", run, "\n") end
  if is_slower and options.fail_if_slower then return 1 end
  -- A run of a script has an exit status of its own.
  return is_of_trace and status == "cannot_tell" and 2 or 0
end
