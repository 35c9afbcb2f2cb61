-- Where should a model and its preprocessing run, and what does crossing between devices cost?
--
-- Cause:  everything by default on one device, or parts of a model scattered so that tensors travel back and forth.
-- Remedy: heavy layers on the fast device, preprocessing on the CPU, and no needless crossings.
-- Claim:  each needless crossing makes the step slower.
-- Chart:  step time over the number of crossings in the forward pass.
-- Without a GPU the two devices are halves of the CPU (one thread each): a crossing there is a copy in host memory, so
-- its price is that of the copy, not of a link; the chart says which devices it used.
local gb = require "gpubench"

gb.experiment {
  name  = "device_placement",
  title = "Every crossing between devices costs a copy each way",
  axes  = {
    gb.axis("crossings", { 0, 1, 2, 4, 8 }),
    gb.axis("width", { 256, 1024 }),
  },
  run = function(point)
    if #gb.config.list_physical_devices("GPU") == 0 then
      gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
    end
    local devices = gb.devices()
    local home, away = devices[1], devices[2]
    -- Eight hidden layers; the first `crossings` boundaries between them change the device.
    local layers, place = {}, home
    for i = 1, 8 do
      if i <= point.crossings then place = place == home and away or home end
      layers[#layers + 1] = gb.device(place, function()
        return gb.layers.Dense(point.width, {
          activation = "relu", input_shape = i == 1 and { 784 } or nil,
        })
      end)
    end
    layers[#layers + 1] = gb.device(home, function() return gb.layers.Dense(10, { activation = "softmax" }) end)
    local model = gb.Sequential(layers)
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    local input = gb.datasets.mnist("train"):batch(64, { drop_remainder = true })
    local row = gb.measure.training(model, input)
    row.device = home .. "+" .. away
    return row
  end,
  charts = {
    gb.chart.line { x = "crossings", y = "step_time_s", series = "width" },
  },
  expect = {
    gb.expect.increasing { x = "crossings", y = "step_time_s", by = "width", tolerance = 0.05 },
  },
}
