local gb = require "gpubench"
local reference = require "reference"

local figures = { memory = "on_device_bytes_per_s", to_device = "to_device_bytes_per_s",
  from_device = "from_device_bytes_per_s" }

gb.experiment {
  name  = "bandwidth",
  title = "Memory and links move bytes at the rate of a sound device",
  question = "Do this device's memory and its link to the host still move data as fast as they should?",
  cause    = "A link that was trained down (fewer lanes, an older generation), memory at a lower clock, remapped rows, "
    .. "or memory modules that were taken out.",
  remedy   = "Compare lanes and generation of the link with what the card can do (gpubench devices), seat the card "
    .. "anew, and look at the memory's error counters.",
  reading  = "Bytes/s of large copies within the device and over its link; 1 in "
    .. "reference_share is the least that is sound.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("way", { "memory", "to_device", "from_device" }),
  },
  columns = { "bytes_per_s", gb.column("reference_share", { unit = "share", better = "higher", kind = "time" }) },
  skip = function(point)
    if point.way ~= "memory" and not point.device:find "^gpu" then return "a processor works in the host's memory" end
  end,
  run = function(point)
    local rate = gb.measure.copies(point.device)[figures[point.way]]
    return {
      device = point.device, bytes_per_s = rate,
      reference_share = point.way == "memory" and reference.share(point.device, "memory_bytes_per_s", rate) or nil,
    }
  end,
  charts = { gb.chart.bar { x = "way", y = "bytes_per_s", series = "device" } },
  expect = {
    gb.expect.at_least {
      y = "reference_share", value = 1, where = { way = "memory" },
      claim = "the memory moves bytes at the rate that this model of device should",
      answer = "This device's memory is as fast as its model's",
    },
  },
}
