-- Before the devices are in use.
local gb = require "gpubench"
local testing = require "testing"

testing.case("threads and devices are counted before they are made", function()
  local set = gb.config.set_logical_devices
  for _, threads in ipairs { 100000, -1, 4097 } do
    testing.raises(threads .. " threads; 1 to 4096 are possible, or 0 for an equal share", set, "cpu:0",
      { { threads = threads } })
  end
  local many = {}
  for i = 1, 2000 do many[i] = { threads = 1 } end
  testing.raises("2000 logical devices; at most 1023 are possible", set, "cpu:0", many)
  testing.raises("cpu:0 is named twice; each device can be once", gb.config.set_visible_devices, { "cpu:0", "cpu:0" },
    "CPU")
  set("cpu:0", { { threads = 1 }, {} })
  testing.equal(#gb.devices(), 2)
end)
