-- Ten nets as a script writes them, against the same in Keras (nets_values.lua, written by nets.py): losses of the same
-- weights, of three steps, and how long the scripts are. finetune.lua and kvcache.lua have no values of Keras.
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local folder = "tests/peers/nets/"
local reference = dofile(folder .. "nets_values.lua")

local function net(name) return dofile(folder .. name .. ".lua") end

-- As nets.py has it: whole numbers below 10007.
local function numbers(count, stream)
  local list = {}
  for i = 0, count - 1 do list[i + 1] = (31 * i * i + (7919 + 613 * stream) * i + 104729 * stream) % 10007 end
  return list
end

-- The tensor that a form stands for (nets.py: made).
local function made(form, stream)
  local count = 1
  for _, extent in ipairs(form.shape) do count = count * extent end
  local list = numbers(count, stream)
  if not form.low then
    for i, drawn in ipairs(list) do list[i] = form.base + form.scale * (2 * drawn / 10007 - 1) end
    return gb.tensor(list):reshape(form.shape)
  end
  local columns = form.shape[2] or 1
  for i, drawn in ipairs(list) do
    local row, column = (i - 1) // columns, (i - 1) % columns
    list[i] = form.low + drawn % (form.high - form.low)
    if form.kept and column >= form.kept + row then list[i] = 0 end
  end
  if form.classes then return gb.tensor(list, { dtype = "int32" }):one_hot(form.classes) end
  return gb.tensor(list, { dtype = form.dtype }):reshape(form.shape)
end

-- One tensor, or a list.
local function given(forms, first)
  local list = {}
  for index, form in ipairs(forms) do list[index] = made(form, first + index) end
  return #list == 1 and list[1] or list
end

local function set_weights(model, forms)
  local weights = {}
  for index, form in ipairs(forms) do
    local here = model.weights[index]
    local shape = testing.show(here and here.shape)
    if shape ~= testing.show(form.shape) then
      error(string.format("weight %d: Keras has %s, gpubench %s, %s", index, testing.show(form.shape), shape,
        here and here.name or "no weight"), 0)
    end
    weights[index] = made(form, index)
  end
  testing.equal(#model.weights, #forms)
  model:set_weights(weights)
end

local function close(actual, expected, tolerance, what)
  compare.close(actual / expected, 1, tolerance, what .. " by Keras'")
end

-- Losses of three steps of fit.
local function fitted(model, x, y, rows)
  return model:fit(x, y, { batch_size = rows, epochs = 3, shuffle = false, verbose = 0 }).history.loss
end

-- The same without random numbers, as the model is called in inference.
local function steps(model, x, y)
  local losses = {}
  for step = 1, 3 do
    local tape <close> = gb.tape()
    local loss = model:compute_loss(x, y, model(x))
    model.optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
    losses[step] = loss:item()
  end
  return losses
end

gb.config.set_seed(1)

compare.run(reference.nets, function(case)
  local model, dataset = net(case.name)()
  set_weights(model, case.weights)
  local x, y = given(case.inputs, 100), given(case.labels, 100 + #case.inputs)
  local rows = case.inputs[1].shape[1]
  local function evaluated() return model:evaluate(x, y, { batch_size = rows }).loss end
  close(evaluated(), case.loss, 1e-4, "loss")
  local tolerance = case.name == "unet" and 1e-3 or 1e-4 -- one of its numbers is within rounding of the kink of relu
  for step, loss in ipairs(case.random and steps(model, x, y) or fitted(model, x, y, rows)) do
    close(loss, case.trained[step], tolerance, "loss of step " .. step)
  end
  close(evaluated(), case.after, tolerance, "loss after the steps")
  local loss = model:fit(dataset:take(2), { epochs = 1, verbose = 0 }).history.loss[1]
  testing.is_true(loss == loss and math.abs(loss) < math.huge, "a finite loss of the net's own batches")
end)

compare.run(reference.gan, function(case)
  local step, batch, generator, discriminator = net "gan"()
  set_weights(generator, case.generator)
  set_weights(discriminator, case.discriminator)
  local real, z = table.unpack(given(case.inputs, 100))
  local entropy, on = gb.losses.BinaryCrossentropy { from_logits = true }, gb.ones { 8, 1 }
  for _, name in ipairs { "inference", "training" } do
    local scores = discriminator(generator(z, { training = name == "training" }))
    local losses = { entropy(on * 0.9, discriminator(real)) + entropy(on * 0, scores), entropy(on, scores) }
    for index, loss in ipairs(losses) do close(loss:item(), case[name][index], 1e-4, "loss in " .. name) end
  end
  local first = step(batch):item()
  for _ = 1, 4 do step(batch) end
  testing.is_true(step(batch):item() < first, "the discriminator learns")
end)

-- Characters without white space of the same nets in Keras, each with its data: a net may have at most 1.6 times as
-- many, the median of all 1.3 times.
local lengths = { dlrm = 766, gan = 1035, multi = 853, seq2seq_lstm = 1054, seq2seq_transformer = 1178, siamese = 564,
  unet = 729, vae = 551, vdropout = 893, vit = 1124 }

testing.case("lengths", function()
  local ratios = {}
  for name, keras in pairs(lengths) do
    local file <close> = assert(io.open(folder .. name .. ".lua"))
    local ratio = #file:read "a":gsub("%s", "") / keras
    testing.is_true(ratio <= 1.6, string.format("%s at most 1.6 times as long as in Keras: %.2f", name, ratio))
    ratios[#ratios + 1] = ratio
  end
  table.sort(ratios)
  local median = (ratios[5] + ratios[6]) / 2
  testing.is_true(median <= 1.3, string.format("at most 1.3 times as long as Keras in the median: %.2f", median))
end)

testing.case("finetune", function()
  local model, x, y = net "finetune"()
  local frozen = 0
  for i = 1, #model.layers // 2 do frozen = frozen + #model.layers[i].variables end
  local before = model:get_weights()
  local slow, head = {}, {}
  for index, variable in ipairs(model.trainable_variables) do
    local list = variable.name:find "^classes/" and head or slow
    list[#list + 1] = { variable, variable * 1, index }
  end
  testing.equal(#head, 2)
  testing.is_true(frozen > 10 and #slow > 10, "frozen layers and others")
  local gradients
  do
    local tape <close> = gb.tape()
    local loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true }(y, model(x, { training = true }))
    gradients = tape:gradient(loss, model.trainable_variables)
  end
  model:set_weights(before) -- the averages have moved
  local first = model:train_on_batch(x, y).loss
  for rate, list in pairs { [1e-3] = slow, [1e-2] = head } do
    for _, item in ipairs(list) do
      local variable, value, index = table.unpack(item)
      local far = (variable - value + gradients[index] * rate):abs():max():item()
      local size = (gradients[index] * rate):abs():max():item()
      testing.is_true(size > 0 and far <= 0.02 * size + 1e-7, variable.name .. " learns with its rate")
    end
  end
  local last
  for _ = 1, 4 do last = model:train_on_batch(x, y).loss end
  testing.is_true(last < first, string.format("the loss falls: %.4f, %.4f", first, last))
  local still = 0
  for index, variable in ipairs(model.variables) do
    if (variable - before[index]):abs():max():item() == 0 then still = still + 1 end
  end
  testing.equal(still, frozen)
end)

testing.case("kvcache", function()
  local cached, anew = net "kvcache"()
  local expected, kinds, known = anew(7, 20), 0, {}
  testing.equal(#expected, 20)
  for _, token in ipairs(expected) do kinds, known[token] = kinds + (known[token] and 0 or 1), true end
  testing.is_true(kinds > 2, "more than two kinds of tokens")
  testing.equal(cached(7, 20), expected)
end)
