-- What run.json says of the devices of this process.
local gb = require "gpubench.native"
local native = gb._native

local device_facts = {}

local function device_details(name)
  local details
  for _, detail in ipairs(native.device_details(name)) do
    details = details or {}
    details[detail[1]] = detail[2]
  end
  return details
end

function device_facts.devices()
  local facts = {}
  for index, name in ipairs(gb.devices()) do
    facts[index] = {
      name = name,
      description = gb.config.device_description(name),
      library = native.device_library(name),
      details = device_details(name),
    }
  end
  return facts
end

-- Nil where there are none.
function device_facts.unusable_gpus()
  local list = native.unusable_gpus()
  return list[1] and list or nil
end

return device_facts
