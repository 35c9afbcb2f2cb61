-- `gpubench calibrate-device DEVICE`: fits a profile for emulation to a device that is there, and prints it.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local device_calibration = require "gpubench.device_calibration"
local native = gb._native

return function(options)
  local like = options.like or "h100"
  native.emulation.profile(like)  -- an unknown one is an error before anything is measured
  local device = options.device
  local calibrated = device_calibration.measure(device, like)
  local profile = { like = like, product = gb.config.device_description(device) }
  for name, value in pairs(calibrated.numbers) do profile[name] = value end
  io.write(native.emulation.text(profile, calibrated.sources))
  print ""
  for _, kind in ipairs(check.sorted_keys(calibrated.samples)) do
    print(string.format("-- %s: the median error of the fitted profile is %.1f %%", kind,
      100 * native.emulation.median_error(profile, calibrated.samples[kind])))
  end
  print "-- In a script:"
  local parts = {}
  for _, name in ipairs(check.sorted_keys(calibrated.numbers)) do
    parts[#parts + 1] = string.format("  %s = %.4g,", name, calibrated.numbers[name])
  end
  print("gb.config.set_custom_profile {\n" .. table.concat(parts, "\n") .. "\n}")
  return 0
end
