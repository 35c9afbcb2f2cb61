-- `gpubench changes`: lasting changes in series of measurements.
local native = require("gpubench.native")._native

return function(options)
  io.write(native.changes(options.file))
  return 0
end
