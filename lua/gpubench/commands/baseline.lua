-- `gpubench baseline save NAME [RUN...]` and `gpubench baseline list`.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local two_columns = require "gpubench.two_columns"
local native = gb._native
local count_of = gb.format.count

local actions = {}

function actions.save(words)
  local name = table.remove(words, 1)
  if not name then check.fail("baseline save: a name is needed: gpubench baseline save NAME [RUN...]") end
  local out, runs = native.options.out, {}
  for _, side in ipairs(words[1] and words or { "last" }) do
    for _, run in ipairs(native.compare.runs_of(side, out)) do runs[#runs + 1] = run end
  end
  local folder = native.compare.save_baseline(name, runs, out)
  print(string.format("saved %s as %s", count_of(#runs, "run"), folder:gsub("^%./", "")))
  return 0
end

local function description_of(baseline)
  if baseline.error then return "cannot be read: " .. baseline.error end
  local info = native.results.read(baseline.runs[1]).info
  return string.format("%s, %s, %s, commit %s", count_of(#baseline.runs, "process"), info.experiment, info.started,
    info.program and info.program.commit or "unknown")
end

function actions.list(words)
  if words[1] then check.fail("baseline list: unexpected argument '%s'", words[1]) end
  local lines = {}
  for index, one in ipairs(native.compare.baselines(native.options.out)) do
    lines[index] = { one.name, description_of(one) }
  end
  if #lines == 0 then print("no baselines below " .. native.options.out) end
  two_columns.print(lines)
  return 0
end

return function(options)
  local action = table.remove(options.words, 1)
  if not actions[action] then
    check.fail("baseline: unknown action '%s' (known: list, save)%s", action,
      native.results.suggestion(action, { "list", "save" }))
  end
  return actions[action](options.words)
end
