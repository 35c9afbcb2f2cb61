-- `gpubench explain`: why the device was not busy, in words with evidence, and where the time of a step went.
local native = require("gpubench.native")._native

return function(options)
  io.write(native.results.explain(options.run, native.options.out, {
    point = options.point, words = options.words, json = options.json, style = native.options.style,
  }))
  return 0
end
