-- Why GPUs are missing among the devices: an array of reasons, each a line.
local native = require("gpubench.native")._native

return function()
  local absence = native.gpu_absence()
  if absence then return { "no GPU: " .. absence } end
  return native.unusable_gpus()
end
