-- Work for a device that is missing: an error, or the CPU and a mark in the rows.
local gb = require "gpubench"
local measurement = require "gpubench.sweep.measurement"
local testing = require "testing"
local native = gb._native

local missing = "gpu:63"

local function row_of(run, axes, point)
  native.reset_devices()
  return measurement.measure({ run = run }, axes or {}, point or {}, 1).call:rows()[1]
end

local function where(device)
  return gb.device(device, function() return gb.ones({ 2 }).device end)
end

native.keep_configuration()

testing.case("without soft placement a missing device is an error", function()
  testing.is_true(not gb.config.soft_device_placement())
  testing.raises("there is no device " .. missing, where, missing)
  local row = row_of(function() return { device = where(missing) } end)
  testing.equal(row.status, "error")
  testing.contains(row.detail, "there is no device " .. missing)
end)

testing.case("with it the CPU does the work, and the row says so", function()
  local row = row_of(function()
    gb.config.set_soft_device_placement(true)
    return { device = where(missing) }
  end)
  testing.equal({ row.status, row.device, row.quality }, { "ok", "cpu:0" })
  testing.contains(row.detail, missing .. " is missing, cpu:0 took its place")
end)

testing.case("a row whose axis names the missing device is unreliable", function()
  local row = row_of(function(point)
    gb.config.set_soft_device_placement(true)
    return { device = where(point.device) }
  end, { gb.axis("device", { missing }) }, { device = missing })
  testing.equal(row.device, missing)
  testing.contains(row.quality, "unreliable: " .. missing .. " is missing")
end)

testing.case("the next point begins without it, and without marks", function()
  local row = row_of(function() return { device = where "cpu:0" } end)
  testing.equal({ row.status, row.detail }, { "ok" })
  testing.equal(row_of(function() return { device = where(missing) } end).status, "error")
end)

testing.case("what was set before the experiment holds at every point", function()
  native.reset_devices()
  gb.config.set_soft_device_placement(true)
  native.keep_configuration()
  for _ = 1, 2 do testing.equal(row_of(function() return { device = where(missing) } end).status, "ok") end
  gb.config.set_soft_device_placement(false)
  native.keep_configuration()
end)

testing.case("a device that is there is used, and tensors move only where they are told to", function()
  gb.config.set_soft_device_placement(true)
  testing.equal(where "cpu:0", "cpu:0")
  testing.equal(gb.ones({ 2 }):to(missing).device, "cpu:0")
  testing.equal(#native.take_fallbacks(), 1)
  testing.equal(native.take_fallbacks(), {})
  testing.raises("there is no device", gb.distribute.MirroredStrategy, { devices = { missing } })
  gb.config.set_soft_device_placement(false)
  testing.raises("there is no device", function() gb.ones({ 2 }):to(missing) end)
end)

testing.case("an emulated device is never missing, and a wrong name of one stays an error", function()
  native.reset_devices()
  gb.config.set_soft_device_placement(true)
  testing.equal(gb.device("emulated:h200:0", function() return gb.device() end), "emulated:h200:0")
  testing.is_true(not pcall(gb.device, "emulated:nothing:0", function() end))
  native.take_fallbacks()
  gb.config.set_soft_device_placement(false)
end)

testing.case("the argument is a boolean", function()
  testing.raises("boolean", gb.config.set_soft_device_placement, 1)
  testing.raises("boolean", gb.config.set_soft_device_placement)
end)
