-- Without a GPU the two devices are halves of the CPU (one thread each): a crossing there is a copy in host memory, so
-- its price is that of the copy, not of a link. At 0 crossings everything runs on one of the two, and the other idles.
-- The column `device` says which devices a row used.
local gb = require "gpubench"

local hidden, batch_size = 8, 64
local has_gpu = #gb.config.list_physical_devices "GPU" > 0
local no_link = not has_gpu and "there is no GPU here, and a copy between CPU devices crosses no link" or nil
-- The device that a script names although this machine has none like it.
local asked = "gpu:99"

-- What a script does that shall also run where there is no such device.
local function graceful(name)
  local ok, reason = pcall(gb.device, name, function() end)
  if ok then return name, 0 end
  return gb.devices()[1], tostring(reason):find("there is no device " .. name, 1, true) and 1 or 0
end

-- Digits as bytes; what makes numbers of them runs beside the training on the host, or behind the copy on the device.
local function input_for(point, home)
  local function scaled(image, label) return (image:cast "float32" / 255):sqrt(), label end
  local bytes = gb.datasets.mnist("train", { scaled = false }):batch(batch_size, { drop_remainder = true })
  if point.preprocessing == "host" then return bytes:map(scaled, { num_parallel_calls = 1 }):prefetch(2) end
  return bytes:prefetch_to_device(home):map(scaled, { device = home })
end

-- What the last buffer in front of the model held: that is what a device with memory of its own is sent.
local function bytes_per_example(input)
  local bytes
  for _, stage in ipairs(input:stats()) do
    if stage.stage:find "prefetch" then bytes = stage.bytes / stage.elements / batch_size end
  end
  return bytes
end

gb.experiment {
  name  = "device_placement",
  topic = "devices",
  title = "Every crossing between devices costs a copy each way",
  question = "Where should layers and preprocessing run, and what does crossing between devices cost?",
  cause    = "Where neighbouring layers lie on different devices, activations are copied in the forward pass and "
    .. "gradients in the backward pass of every step, and the next layer waits for them. A device that a script names "
    .. "may be missing.",
  remedy   = "All layers on the fast device; preprocessing beside them on the CPU, or behind the copy on the device, "
    .. "which then copies bytes; and gb.devices()[1] where the wanted device is missing.",
  reading  = "Step time over the number of crossings in the forward pass; the backward pass crosses as often "
    .. "again. The slope is what crossings cost; where the second device is slower, it includes the slower layers. The "
    .. "second chart has the step time by the place of the preprocessing.",
  axes  = {
    gb.axis("crossings", { 0, 2, 4, 8 }),
    gb.axis("width", { 256, 1024 }),
    gb.axis("preprocessing", { "host", "device" }, { closed = true }),
  },
  columns = {
    gb.column("bytes_per_example", { unit = "bytes", kind = "counted", better = "lower" }),
    gb.column("missing_refused", { kind = "counted" }), gb.column("fell_back", { kind = "counted" }),
  },
  skip = function(point)
    if point.crossings % 2 == 1 then return "an odd number of crossings ends away from the labels" end
    if point.crossings > hidden then return string.format("there are %d boundaries between layers", hidden) end
    if point.crossings > 0 and point.preprocessing == "device" then
      return "the place of the preprocessing is compared without crossings"
    end
  end,
  run = function(point)
    if not has_gpu then gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } }) end
    local devices = gb.devices()
    local home, refused = graceful(asked)
    local away = devices[2]
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
    local input = input_for(point, home)
    local row = gb.measure.training(model, input)
    row.device = point.crossings == 0 and home or home .. "+" .. away
    row.bytes_per_example = bytes_per_example(input)
    local weights = model.variables[1]
    row.missing_refused, row.fell_back = refused, weights and weights.device == devices[1] and 1 or 0
    return row
  end,
  charts = {
    gb.chart.line { x = "crossings", y = "step_time_s", series = "width", where = { preprocessing = "host" } },
    gb.chart.bar { x = "preprocessing", y = "step_time_s", series = "width", where = { crossings = 0 } },
    gb.chart.line { x = "crossings", y = "copy_share", series = "width", where = { preprocessing = "host" } },
  },
  expect = {
    gb.expect.increasing {
      x = "crossings", y = "step_time_s", tolerance = 0.05, where = { preprocessing = "host", width = 256 },
      answer = "Keep the model on one device: with {x} crossings instead of {first} a step takes {times} as long",
    },
    gb.expect.increasing {
      x = "crossings", y = "copy_share", by = "width", where = { preprocessing = "host" }, unmeasurable = no_link,
      claim = "copies take a larger share of the step with every crossing",
      answer = "Copies take {of} of a step with {x} crossings, {over} with {first}",
    },
    gb.expect.at_most {
      y = "input_wait_share", value = 0.05, where = { crossings = 0, preprocessing = "host" },
      claim = "preprocessing on the CPU beside the training is not waited for",
      answer = "Preprocess on the CPU, ahead of the training: waiting for it takes {of} of a step",
    },
    gb.expect.ratio {
      y = "bytes_per_example", of = { preprocessing = "device" }, over = { preprocessing = "host" },
      where = { crossings = 0 }, at_most = 0.3,
      claim = "preprocessing behind the copy leaves a quarter of the bytes to copy",
      answer = "Where the link is the limit, preprocess on the device: {less} fewer bytes are copied",
    },
    gb.expect.at_least {
      y = "missing_refused", value = 1,
      claim = "a device that is not there is refused by name, not replaced in silence",
    },
    gb.expect.at_least {
      y = "fell_back", value = 1, claim = "a script that falls back trains on the best device there is",
    },
  },
}
