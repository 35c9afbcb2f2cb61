-- gb.param: a number, text or flag of a script that the command line may replace: `--set epochs=3`. Options as an axis
-- has.
local axis = require "gpubench.axis"
local check = require "gpubench.check"
local options = require("gpubench.native")._native.options

-- Their values by name, and the names of those that the command line has changed, in the order of the script.
local param = { values = {}, changed = {} }

function param.new(name, default, accepted)
  check.kind("gb.param: argument #1", name, "string")
  check.kind("gb.param: argument #2", default, "number|string|boolean")
  if param.values[name] ~= nil then check.fail("gb.param: '%s' is there twice", name) end
  local own = axis.new(name, { default }, accepted)
  local texts = options.axes[name]
  if texts then own = axis.override(own, texts) end
  if #own.values ~= 1 then
    check.fail("--set %s: %d values; a parameter has one, and an axis (gb.axis) is swept over", name, #own.values)
  end
  param.values[name] = own.values[1]
  if own.values[1] ~= default then table.insert(param.changed, name) end
  return own.values[1]
end

return param
