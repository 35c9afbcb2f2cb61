-- `gpubench pack`: one archive of all that a run has left.
local native = require("gpubench.native")._native

return function(options)
  local file = native.results.pack(options.run, native.options.out, options.file, options.anonymous == true)
  print(native.results.one_line("wrote " .. file))
  return 0
end
