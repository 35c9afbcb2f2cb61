-- What run.json says of the devices and of the machine of this process.
local native = require("gpubench.native")._native

local device_facts = {}

device_facts.devices = native.device_facts

-- Nil where there are none.
function device_facts.unusable_gpus()
  local list = native.unusable_gpus()
  return list[1] and list or nil
end

-- The checks that take no time. What other programs use is measured at every point.
local looked_at = {}
for _, one in ipairs(native.doctor.checks()) do
  if one.name ~= "load" and one.name ~= "gnuplot" then looked_at[#looked_at + 1] = one.name end
end

-- What doctor finds wrong, with all or with one device; nil where there is nothing.
function device_facts.problems(device)
  local list = {}
  for _, one in ipairs(native.doctor.check(looked_at)) do
    if one.problem and (not device or one.device == device) then list[#list + 1] = one end
  end
  return list[1] and list or nil
end

return device_facts
