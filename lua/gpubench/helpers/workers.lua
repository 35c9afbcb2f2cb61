-- The axis of experiments that compare numbers of workers set by hand with gb.AUTOTUNE, which is called "autotune"
-- there.
local gb = require "gpubench"

local workers = {}

local function accepts(value)
  return value == "autotune" or math.type(value) == "integer" and value >= 1, "whole numbers from 1, autotune"
end

function workers.axis()
  return gb.axis("workers", gb.quick and { 1, 2, "autotune" } or { 1, 2, 4, 8, "autotune" }, { accepts = accepts })
end

-- The option num_parallel_calls.
function workers.calls(value)
  return value == "autotune" and gb.AUTOTUNE or value
end

return workers
