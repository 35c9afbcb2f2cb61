-- `gpubench devices`: the devices of this machine.
local gb = require "gpubench.native"
local device_facts = require "gpubench.device_facts"
local missing_gpus = require "gpubench.missing_gpus"
local two_columns = require "gpubench.two_columns"
local native = gb._native

return function()
  local lines = {}
  for index, name in ipairs(gb.devices()) do lines[index] = { name, gb.config.device_description(name) } end
  local width = two_columns.width_of(lines)
  for _, line in ipairs(lines) do
    two_columns.print({ line }, width)
    local details = native.device_details(line[1])
    for _, one in ipairs(device_facts.problems(line[1]) or {}) do details[#details + 1] = { one.name, one.found } end
    two_columns.print(details, nil, string.rep(" ", width + 2))
  end
  for _, text in ipairs(missing_gpus()) do print(text) end
  return 0
end
