-- A number of threads that no process may have is an error that names the limit.
local gb = require "gpubench"
local testing = require "testing"

for _, threads in ipairs { 100000, 1 << 31, math.maxinteger, -1 } do
  testing.case(threads .. " threads", function()
    testing.contains(testing.refuses(function()
      gb.config.set_logical_devices("cpu:0", { { threads = threads } })
      print(gb.ones { 3 } + 1)
    end), "threads")
  end)
end
