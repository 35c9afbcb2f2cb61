local gb = require "gpubench"

-- A step makes so many calls that the pipeline, which gives it something to count, does not count.
local calls = 200

local function ticks()
  return gb.data.Dataset.from_tensor_slices(gb.zeros { 64 }):batch(1)
end

gb.experiment {
  name  = "launch_latency",
  title = "An operation on one number takes little time on a sound host",
  question = "How long does it take to start the smallest operation and to get its result?",
  cause    = "A slower driver, processors in a power-saving state, interrupts on the wrong processor, or a hypervisor "
    .. "that takes the processor away.",
  remedy   = "Look at the driver, the processors' governor and what else runs on the host; gpubench history names what "
    .. "changed.",
  reading  = "Time from the call to the result, for a sum of one number.",
  axes  = { gb.axis("device", gb.devices()) },
  columns = { "call_time_s", "call_time_low_s", "call_time_high_s" },
  run = function(point)
    return gb.device(point.device, function()
      local one = gb.ones { 1 }
      local row = gb.measure.loop(function()
        for _ = 2, calls do one:sum():item() end
        return one:sum():item()
      end, ticks())
      return {
        device = point.device, quality = row.quality, steps = row.steps, stop_reason = row.stop_reason,
        call_time_s = row.step_time_s / calls,
        call_time_low_s = row.step_time_low_s and row.step_time_low_s / calls,
        call_time_high_s = row.step_time_high_s and row.step_time_high_s / calls,
      }
    end)
  end,
  charts = { gb.chart.bar { x = "device", y = "call_time_s" } },
  expect = {
    gb.expect.at_most {
      y = "call_time_s", value = 100e-6, claim = "a result is there within 100 µs",
      answer = "The smallest operation takes less than 100 µs",
    },
  },
}
