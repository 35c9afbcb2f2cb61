-- What run.json says of the devices of this process.
local native = require("gpubench.native")._native

local device_facts = {}

device_facts.devices = native.device_facts

-- Nil where there are none.
function device_facts.unusable_gpus()
  local list = native.unusable_gpus()
  return list[1] and list or nil
end

return device_facts
