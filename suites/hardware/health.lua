local gb = require "gpubench"

gb.experiment {
  name  = "health",
  title = "A sound GPU has no uncorrected errors and its whole link",
  question = "Do this GPU's own counters report damage?",
  cause    = "Memory cells that fail, or a link that was trained down because of a bad contact.",
  remedy   = "Uncorrected errors: reset the GPU when nothing uses it, and return the card if they come back. A link "
    .. "with fewer lanes: seat the card anew.",
  reading  = "Uncorrected errors since the driver was loaded; lanes of the link over those that card and slot have.",
  axes  = { gb.axis("device", gb.devices()) },
  columns = {
    gb.column("uncorrected_errors", { better = "lower", kind = "counted" }),
    gb.column("link_lanes_ratio", { better = "higher", kind = "counted" }),
  },
  skip = function(point)
    if not point.device:find "^gpu" then return "a processor's counters are not read" end
  end,
  run = function(point)
    local sensors = gb.config.device_sensors(point.device)
    if not sensors.uncorrected_errors and not sensors.link_lanes then
      return { device = point.device, status = "skipped", detail = "the driver tells neither errors nor link" }
    end
    return {
      device = point.device,
      uncorrected_errors = sensors.uncorrected_errors,
      link_lanes_ratio = sensors.link_lanes and sensors.link_lanes / (sensors.max_link_lanes or sensors.link_lanes),
    }
  end,
  charts = { gb.chart.bar { x = "device", y = "uncorrected_errors" } },
  expect = {
    gb.expect.at_most { y = "uncorrected_errors", value = 0, claim = "the memory has no uncorrected errors" },
    gb.expect.at_least {
      y = "link_lanes_ratio", value = 1, claim = "the link has all its lanes",
      answer = "The GPU's link has all its lanes",
    },
  },
}
