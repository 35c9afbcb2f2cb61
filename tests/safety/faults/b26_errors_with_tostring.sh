# An error value's own text is shown.
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "e", title = "t", run = function()
  error(setmetatable({}, { __tostring = function() return "told by itself" end }))
end }
S
run x.lua --out o
contains "$out$err" 'told by itself'
lacks "$out$err" 'function: 0x'
echo 'error(setmetatable({}, { __tostring = function() return "told by itself" end }))' >y.lua
run y.lua --out o
contains "$err" 'told by itself'
