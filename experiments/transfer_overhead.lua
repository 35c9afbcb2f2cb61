-- What does moving data to the GPU in every step cost?
--
-- Cause:  data that lies in the CPU's memory is copied to the GPU in every step, through a link that is far slower than the
--         memory on either side of it.
-- Remedy: data that stays on the GPU; where it must move, fewer and larger copies.
-- Claim:  for large data a step on resident data is at least twice as fast; the price of moving it rises with its size; the
--         rate of the copy rises with the size of the copy until a knee, which is the link's own rate.
-- Charts: step time over the bytes of its data, moved and resident; the rate of the copy over its bytes.
-- A step is the sum of its data, which is done where the data is, and waits for its one number. The rate is that of the
-- whole step, in which the copy is all but a little, as the resident step shows. Only copies from a CPU's memory to a
-- GPU's count: between two parts of a CPU there is no link.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices("GPU")
local kib, mib = 1 << 10, 1 << 20
local large = 64 * mib

-- Steps take no data from a pipeline, whose own work would be measured too; this gives them something to count.
local function ticks()
  return gb.data.Dataset.from_tensor_slices(gb.zeros { 1 }):batch(1)
end

gb.experiment {
  name  = "transfer_overhead",
  title = "Moving data in every step costs more than computing with it",
  axes  = {
    gb.axis("device", gpus[1] and gpus or { "gpu:0" }),
    gb.axis("data_bytes", { 4 * kib, 64 * kib, mib, 16 * mib, large }),
    gb.axis("placement", { "moved", "resident" }),
  },
  columns = { "copied_bytes_per_s", "copied_bytes_low_per_s", "copied_bytes_high_per_s" },
  skip = function(point)
    if #gpus == 0 then return "there is no GPU here to copy to" end
    if not point.device:find "^gpu" then return "a copy within a CPU's memory crosses no link" end
  end,
  run = function(point)
    return gb.device("cpu:0", function()
      local data = gb.random.uniform { point.data_bytes // 4 }
      if point.placement == "resident" then data = data:to(point.device) end
      local row = gb.measure.loop(function()
        return gb.device(point.device, function() return data:to(point.device):sum():item() end)
      end, ticks())
      row.device, row.batch_size = point.device, nil
      row.examples_per_s, row.examples_low_per_s, row.examples_high_per_s = nil, nil, nil
      if point.placement == "moved" then
        row.copied_bytes_per_s = point.data_bytes / row.step_time_s
        if row.step_time_low_s and row.step_time_high_s then
          row.copied_bytes_low_per_s = point.data_bytes / row.step_time_high_s
          row.copied_bytes_high_per_s = point.data_bytes / row.step_time_low_s
        end
      end
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "data_bytes", y = "step_time_s", series = "placement", log_x = 2, log_y = 10 },
    gb.chart.line { x = "data_bytes", y = "copied_bytes_per_s", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "step_time_s", of = { placement = "resident" }, over = { placement = "moved" }, where = { data_bytes = large },
      at_most = 0.5, claim = "a step on 64 MiB of resident data takes at most half as long",
    },
    gb.expect.increasing {
      x = "data_bytes", y = "step_time_s", of = { placement = "moved" }, over = { placement = "resident" }, tolerance = 0.1,
      claim = "the price of moving data rises with its size",
    },
    gb.expect.increasing {
      x = "data_bytes", y = "copied_bytes_per_s", where = { placement = "moved" }, until_knee = true,
      claim = "larger copies are faster ones, until the link's own rate",
    },
    gb.expect.knee { x = "data_bytes", y = "copied_bytes_per_s", where = { placement = "moved" } },
  },
}
