-- `gpubench run`, after the script: what its experiments came to.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local param = require "gpubench.param"
local native = gb._native

-- What the command line asks of experiments, and why a script without one cannot do it.
local function asked_of_experiments()
  local options = native.options
  if options.dry_run then return "--dry-run has nothing to list" end
  for _, name in ipairs(check.sorted_keys(options.axes)) do
    if param.values[name] == nil then return "--set " .. name .. " sets nothing" end
  end
  if options.require[1] then return "--require " .. options.require[1] .. " has nothing to judge" end
end

return function()
  local experiment = package.loaded["gpubench.experiment"]
  if experiment and next(experiment.declared) then return experiment.status end
  local reason = asked_of_experiments()
  if reason then check.fail("run: %s declares no experiment (gb.experiment): %s", native.options.script, reason) end
  return 0
end
