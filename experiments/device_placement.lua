local gb = require "gpubench"

local hidden = 8

gb.experiment {
  name  = "device_placement",
  topic = "devices",
  title = "Every crossing between devices costs a copy each way",
  question = "Where should the layers of a model run, and what does crossing between devices cost?",
  cause    = "Where neighbouring layers lie on different devices, activations are copied in the forward pass and "
    .. "gradients in the backward pass of every step, and the next layer waits for them.",
  remedy   = "Heavy layers on the fast device, preprocessing on the CPU, and no needless crossings.",
  reading  = "Step time over the number of crossings in the forward pass; the backward pass crosses as often "
    .. "again. The slope is what crossings cost; where the second device is slower, it includes the slower layers.",
  axes  = {
    gb.axis("crossings", { 0, 2, 4, 6, 8 }),
    gb.axis("width", { 256, 1024 }),
  },
  skip = function(point)
    if point.crossings % 2 == 1 then return "an odd number of crossings ends away from the labels" end
    if point.crossings > hidden then return string.format("there are %d boundaries between layers", hidden) end
  end,
  -- Without a GPU the two devices are halves of the CPU (one thread each): a crossing there is a copy in host memory,
  -- so its price is that of the copy, not of a link. At 0 crossings everything runs on one of the two, and the other
  -- idles. The column `device` says which devices a row used.
  run = function(point)
    if #gb.config.list_physical_devices("GPU") == 0 then
      gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
    end
    local devices = gb.devices()
    local home, away = devices[1], devices[2]
    -- The first `crossings` boundaries between layers change the device; an even number of them ends at home.
    local layers, place = {}, home
    for i = 1, hidden + 1 do
      if i > 1 and i - 1 <= point.crossings then place = place == home and away or home end
      layers[i] = gb.device(place, function()
        if i > hidden then return gb.layers.Dense(10, { activation = "softmax" }) end
        return gb.layers.Dense(point.width, { activation = "relu", input_shape = i == 1 and { 784 } or nil })
      end)
    end
    local model = gb.Sequential(layers)
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    local input = gb.datasets.mnist("train"):batch(64, { drop_remainder = true })
    local row = gb.measure.training(model, input)
    row.device = point.crossings == 0 and home or home .. "+" .. away
    return row
  end,
  charts = {
    gb.chart.line { x = "crossings", y = "step_time_s", series = "width" },
  },
  expect = {
    gb.expect.increasing {
      x = "crossings", y = "step_time_s", by = "width", tolerance = 0.05,
      answer = "Keep the model on one device: with {x} crossings instead of {first} a step takes {times} as long",
    },
  },
}
