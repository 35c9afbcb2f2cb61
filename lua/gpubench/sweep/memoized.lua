-- What a script makes once for all rounds and points, such as a trained model or a reference to compare with.
local check = require "gpubench.check"
local native = require("gpubench.native")._native
-- Those of the program, whatever a script does to its globals.
local seconds, pack, unpack = native.system.seconds, table.pack, table.unpack

-- seconds: how long the calls of make() took. It is no part of what a further round costs.
local memoized = { seconds = 0 }
local results, depth = {}, 0

-- Adds the time until it is closed, also by an error; of a call within another call, nothing.
local function timer()
  local started = seconds()
  depth = depth + 1
  return setmetatable({}, { __close = function()
    depth = depth - 1
    if depth == 0 then memoized.seconds = memoized.seconds + seconds() - started end
  end })
end

-- What make() returned when it was called first with this key; an error is not kept.
function memoized.value(key, make)
  check.kind("gb.once: key", key, "string")
  check.kind("gb.once: make", make, "function")
  if not results[key] then
    local _ <close> = timer()
    results[key] = pack(make())
  end
  return unpack(results[key], 1, results[key].n)
end

return memoized
