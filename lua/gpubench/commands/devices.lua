-- `gpubench devices`: the devices of this machine.
local gb = require "gpubench.native"
local missing_gpus = require "gpubench.missing_gpus"
local two_columns = require "gpubench.two_columns"
local native = gb._native

return function()
  local lines = {}
  for index, name in ipairs(gb.devices()) do lines[index] = { name, gb.config.device_description(name) } end
  local width = two_columns.width_of(lines)
  for _, line in ipairs(lines) do
    two_columns.print({ line }, width)
    two_columns.print(native.device_details(line[1]), nil, string.rep(" ", width + 2))
  end
  for _, text in ipairs(missing_gpus()) do print(text) end
  return 0
end
