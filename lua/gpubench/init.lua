-- The table that scripts know as `gb`: the native modules and what is written in Lua on top of them.
local gb = require "gpubench.native"

-- The library's own functions refuse arguments that they would drop, as those in C++ do.
local native, select = gb._native, select

local counted = {}

-- The function under its name in messages.
function counted.of(name, f)
  local most = native.parameters(f)
  if not most then return f end  -- any number
  return function(...)
    local given = select("#", ...)
    for index = most + 1, given do
      if select(index, ...) ~= nil then
        native.fail(string.format("%s: takes at most %d argument%s, got %d", name, most, most == 1 and "" or "s",
          given))
      end
    end
    return f(...)
  end
end

-- A table with all members of a module.
function counted.module(name, module)
  local members = {}
  for key, member in pairs(module) do
    members[key] = type(member) == "function" and counted.of(name .. "." .. key, member) or member
  end
  return members
end

gb.axis = counted.of("gb.axis", require("gpubench.axis").new)
gb.column = counted.of("gb.column", require("gpubench.columns").new)
gb.chart = counted.module("gb.chart", require("gpubench.chart").kinds)
gb.expect = counted.module("gb.expect", require "gpubench.expect")
gb.param = counted.of("gb.param", require("gpubench.param").new)
gb.once = counted.of("gb.once", require("gpubench.sweep.memoized").value)
gb.experiment = counted.of("gb.experiment", require("gpubench.experiment").declare)
gb.measure.efficiency = counted.of("gb.measure.efficiency", require "gpubench.helpers.efficiency")
gb.measure.in_process = counted.of("gb.measure.in_process", require "gpubench.in_process")
gb.zoo = counted.module("gb.zoo", require "gpubench.zoo")
gb.quick = gb._native.options.quick
gb.clock = gb._native.system.seconds

gb._native.name_members()

return gb
