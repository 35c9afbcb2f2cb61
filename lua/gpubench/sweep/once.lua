-- What a script makes once for all rounds and points, such as a trained model or a reference to compare with.
local check = require "gpubench.check"
local native = require("gpubench.native")._native
-- Those of the program, whatever a script does to its globals.
local seconds, pack, unpack = native.system.seconds, table.pack, table.unpack

-- seconds: how long all that was made took. It is no part of what a further round costs.
local once = { seconds = 0 }
local made, depth = {}, 0

-- Adds the time until it is closed, also by an error; of what is made while something else is made, nothing.
local function timer()
  local started = seconds()
  depth = depth + 1
  return setmetatable({}, { __close = function()
    depth = depth - 1
    if depth == 0 then once.seconds = once.seconds + seconds() - started end
  end })
end

-- What make() returned when it was called first with this key; an error is not kept.
function once.made(key, make)
  check.kind("gb.once: key", key, "string")
  check.kind("gb.once: make", make, "function")
  if not made[key] then
    local _ <close> = timer()
    made[key] = pack(make())
  end
  return unpack(made[key], 1, made[key].n)
end

return once
