-- A step is the sum of its data, which is done where the data is, and waits for its one number. The rate is that of the
-- whole step, in which the copy is all but a little, as the resident step shows. link_share relates it to the best rate
-- of gb.measure.copies. Only copies from a CPU's memory to a GPU's count: between two parts of a CPU there is no link.
-- Where no GPU is, one is emulated, and the rows and the answer say so.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices("GPU")
if #gpus == 0 then gpus = { "emulated:h200:0" } end
local kib, mib = 1 << 10, 1 << 20
local large = 512 * mib

-- Steps take no data from a pipeline, whose own work would be measured too; this gives them something to count.
local function ticks()
  return gb.data.Dataset.from_tensor_slices(gb.zeros { 1 }):batch(1)
end

gb.experiment {
  name  = "transfer_overhead",
  topic = "devices",
  needs = "a GPU, or emulates one",
  title = "Moving data in every step costs more than computing with it",
  question = "What does moving data to the GPU in every step cost?",
  cause    = "Data that lies in the CPU's memory is copied to the GPU in every step, through a link that is far "
    .. "slower than the memory on either side of it.",
  remedy   = "Data that stays on the GPU; where it must move, page-locked (pinned) memory, fewer and larger copies, "
    .. "and copies under the computation of another step (the experiment transfer_overlap).",
  reading  = "Step time over the bytes of its data, moved and resident; the rate of the copy over its bytes.",
  axes  = {
    gb.axis("device", gpus),
    gb.axis("data_bytes", { 4 * kib, 64 * kib, mib, 16 * mib, 256 * mib, large }),
    gb.axis("placement", { "pageable", "pinned", "resident" }),
  },
  columns = { "copied_bytes_per_s", "copied_bytes_low_per_s", "copied_bytes_high_per_s", "link_share" },
  skip = function(point)
    if point.device:find "^cpu" then return "a copy within a CPU's memory crosses no link" end
  end,
  run = function(point)
    -- In the device's scope: page-locked memory is for a device that is there.
    local best = gb.device(point.device, function() return gb.measure.copies(point.device).to_device_bytes_per_s end)
    return gb.device("cpu:0", function()
      local data = gb.random.uniform { point.data_bytes // 4 }
      if point.placement == "resident" then data = data:to(point.device) end
      if point.placement == "pinned" then data = data:pin_memory() end
      local row = gb.measure.loop(function()
        return gb.device(point.device, function() return data:to(point.device):sum():item() end)
      end, ticks())
      row.device, row.batch_size = point.device, nil
      row.examples_per_s, row.examples_low_per_s, row.examples_high_per_s = nil, nil, nil
      if point.placement ~= "resident" then
        row.copied_bytes_per_s = point.data_bytes / row.step_time_s
        row.link_share = row.copied_bytes_per_s / best
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
    gb.chart.line { x = "data_bytes", y = "copied_bytes_per_s", series = "placement", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "step_time_s", of = { placement = "resident" }, over = { placement = "pinned" },
      where = { data_bytes = large },
      at_most = 0.5, claim = "a step on 512 MiB of resident data takes at most half as long as on moved data",
      answer = "Keep the data on the GPU: a step on 512 MiB takes {less} less time than with data that moves",
    },
    gb.expect.increasing {
      x = "data_bytes", y = "step_time_s", of = { placement = "pinned" }, over = { placement = "resident" },
      tolerance = 0.1,
      claim = "the price of moving data rises with its size",
    },
    gb.expect.increasing {
      x = "data_bytes", y = "copied_bytes_per_s", where = { placement = "pinned" }, until_knee = true,
      claim = "larger copies are faster ones, until the link's own rate",
    },
    gb.expect.knee { x = "data_bytes", y = "copied_bytes_per_s", where = { placement = "pinned" } },
    gb.expect.at_least {
      y = "link_share", value = 0.85, where = { placement = "pinned", data_bytes = large },
      claim = "512 MiB from page-locked memory travel at 85 % of the link's best rate or more",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { placement = "pageable" }, over = { placement = "pinned" },
      where = { data_bytes = large },
      at_least = 1.2, claim = "512 MiB from ordinary memory take at least 1.2 times as long as from page-locked memory",
      answer = "Copy from page-locked memory: a step takes {times} as long from ordinary memory",
    },
  },
}
