-- Why GPUs are missing among the devices: an array of reasons, each a line.
local native = require("gpubench.native")._native

return function()
  local absence = native.gpu_absence()
  if absence then return { "no GPU: " .. absence } end
  local list = {}
  for index, text in ipairs(native.unusable_gpus()) do list[index] = "not usable: " .. text end
  return list
end
