-- Options of recurrent layers: dropout by one mask for all steps, and masked steps.
local gb = require "gpubench"
local testing = require "testing"
local case, near, raises = testing.case, testing.near, testing.raises
local layers = gb.layers

local function close(actual, expected, tolerance, what)
  testing.equal(table.concat(actual.shape, " "), table.concat(expected.shape, " "))
  local distance = (actual - expected):abs():max():item()
  testing.is_true(distance <= tolerance, string.format("%s: differs by %g", what, distance))
end

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end
local function tanh(x) return (math.exp(2 * x) - 1) / (math.exp(2 * x) + 1) end

-- The layer in a model with these weights, called once in training.
local function in_training(layer, x, weights)
  local symbol = gb.Input { x.shape[2], x.shape[3] }
  local model = gb.Model { inputs = symbol, outputs = layer(symbol) }
  local tensors = {}
  for index, values in ipairs(weights) do tensors[index] = gb.tensor(values) end
  model:set_weights(tensors)
  return layer(x, { training = true }):to_table()
end

-- A diagonal matrix of `units` rows for each of `gates`, next to each other.
local function diagonals(units, gates, value)
  local rows = {}
  for row = 1, units do
    rows[row] = {}
    for column = 1, gates * units do rows[row][column] = (column - 1) % units + 1 == row and value or 0 end
  end
  return rows
end

local function zeros(rows, columns)
  local all = {}
  for row = 1, rows do
    all[row] = {}
    for column = 1, columns do all[row][column] = 0 end
  end
  return all
end

case("dropout drops the same inputs in all steps", function()
  local units, rate, value = 24, 0.25, 0.7
  local layer = layers.GRU(units, { dropout = rate, use_bias = false, return_sequences = true, seed = 4 })
  local x = gb.ones { 3, 4, units } * value
  local states = in_training(layer, x, { diagonals(units, 3, 1), zeros(units, 3 * units) })
  local dropped = 0
  for row = 1, 3 do
    for unit = 1, units do
      local first = states[row][1][unit]
      local given = first == 0 and 0 or value / (1 - rate)
      local z, g, h = sigmoid(given), tanh(given), 0
      dropped = dropped + (first == 0 and 1 or 0)
      for step = 1, 4 do
        h = z * h + (1 - z) * g
        near(states[row][step][unit], h, 1e-5)
      end
    end
  end
  testing.is_true(dropped > 4 and dropped < 40, dropped .. " of 72 units are dropped")
end)

-- With recurrent dropout, each gate has its own inputs and states to drop, as in Keras.
case("recurrent dropout drops the same states of a gate in all steps", function()
  local units, bias = 32, 0.5
  local layer = layers.LSTM(units, { recurrent_dropout = 0.5, return_sequences = true, seed = 6 })
  local biases = {}
  for column = 1, 4 * units do biases[column] = bias end
  local states = in_training(layer, gb.zeros { 2, 4, 1 }, { zeros(1, 4 * units), diagonals(units, 4, 1), biases })
  local function run(kept)
    local h, c, list = 0, 0, {}
    for step = 1, 4 do
      local i, f = sigmoid(bias + kept[1] * h), sigmoid(bias + kept[2] * h)
      local g, o = tanh(bias + kept[3] * h), sigmoid(bias + kept[4] * h)
      c = f * c + i * g
      h = o * tanh(c)
      list[step] = h
    end
    return list
  end
  local found = {}
  for row = 1, 2 do
    for unit = 1, units do
      local fits = 0
      for choice = 0, 15 do
        local kept = {}
        for gate = 1, 4 do kept[gate] = 2 * (choice >> (gate - 1) & 1) end
        local list, same = run(kept), true
        for step = 1, 4 do same = same and math.abs(list[step] - states[row][step][unit]) < 1e-5 end
        if same then
          fits = fits + 1
          found[choice] = true
        end
      end
      testing.equal(fits, 1)
    end
  end
  local kinds = 0
  for _ in pairs(found) do kinds = kinds + 1 end
  testing.is_true(kinds > 8, "gates drop by themselves: " .. kinds .. " of 16 choices")
end)

case("gates drop their own inputs beside recurrent dropout", function()
  local units, rate, value = 24, 0.5, 0.7
  local options = { dropout = rate, recurrent_dropout = 0.25, use_bias = false, seed = 4 }
  local states = in_training(layers.GRU(units, options), gb.ones { 2, 1, units } * value,
    { diagonals(units, 3, 1), zeros(units, 3 * units) })
  local found = {}
  for row = 1, 2 do
    for unit = 1, units do
      local fits = false
      for _, z in ipairs { 0, value / (1 - rate) } do
        for _, g in ipairs { 0, value / (1 - rate) } do
          if math.abs((1 - sigmoid(z)) * tanh(g) - states[row][unit]) < 1e-5 then
            fits = true
            found[g == 0 and "none" or z == 0 and "candidate" or "both"] = true
          end
        end
      end
      testing.is_true(fits, "unit " .. unit)
    end
  end
  testing.is_true(found.none and found.candidate and found.both, "gates drop by themselves")
end)

case("nothing is dropped in inference", function()
  for _, kind in ipairs { "LSTM", "GRU" } do
    local layer = layers[kind](8, { dropout = 0.5, recurrent_dropout = 0.5 })
    local both = layers.Bidirectional(layers[kind](8, { dropout = 0.5 }))
    local x = gb.random.normal({ 3, 5, 4 }, { seed = 1 })
    for _, each in ipairs { layer, both } do
      close(each(x), each(x, { training = false }), 0, kind)
      local first, second = each(x, { training = true }), each(x, { training = true })
      testing.is_true((first - each(x)):abs():max():item() > 1e-3, kind .. " drops in training")
      testing.is_true((first - second):abs():max():item() > 1e-3, kind .. " drops anew")
    end
  end
end)

-- Step 2 and the last one are masked; the others are a shorter sequence.
local steps, kept = { 1, 1, 3, 4, 4 }, { 1, 3, 4 }
local function masked_and_short()
  local x = gb.random.normal({ 2, 5, 3 }, { seed = 2 })
  local mask = gb.tensor({ { 1, 0, 1, 1, 0 }, { 1, 0, 1, 1, 0 } }, { dtype = "int32" })
  local parts = {}
  for index, step in ipairs(kept) do parts[index] = x[{ {}, { step, step } }] end
  return x, mask, gb.concat(parts, 1)
end

local kinds = { "LSTM", "GRU" }
local function made(kind, units, options) return layers[kind](units, options) end

for _, kind in ipairs(kinds) do
  case("masked steps of " .. kind .. " keep the state", function()
    local x, mask, short = masked_and_short()
    local last = made(kind, 4)
    close(last { x, mask }, last(short), 1e-6, "the last state")
    local back = made(kind, 4, { go_backwards = true })
    close(back { x, mask }, back(short), 1e-6, "the state backwards")
    local all = made(kind, 4, { return_sequences = true })
    local sequence, alone = all { x, mask }, all(short)
    for step, source in ipairs(steps) do
      local at = source == 1 and 1 or source - 1
      close(sequence[{ {}, { step, step } }], alone[{ {}, { at, at } }], 1e-6, "step " .. step)
    end
    close(all { x, mask:cast "bool" }, sequence, 0, "a mask of bools")
  end)
  case("Bidirectional " .. kind .. " returns zeros for masked steps", function()
    local x, mask, short = masked_and_short()
    local last = layers.Bidirectional(made(kind, 4))
    close(last { x, mask }, last(short), 1e-6, "the last states")
    local all = layers.Bidirectional(made(kind, 4, { return_sequences = true }))
    local sequence, alone = all { x, mask }, all(short)
    for at, step in ipairs(kept) do
      close(sequence[{ {}, { step, step } }], alone[{ {}, { at, at } }], 1e-6, "step " .. step)
    end
    for _, step in ipairs { 2, 5 } do near(sequence[{ {}, { step, step } }]:abs():max():item(), 0, 0) end
  end)
end

case("gradients pass masked steps", function()
  for _, kind in ipairs(kinds) do
    local x, mask, short = masked_and_short()
    local layer = made(kind, 4)
    local function gradient_of(sequence, ...)
      local tape <close> = gb.tape()
      return tape:gradient(layer(... and { sequence, ... } or sequence):square():sum(), sequence)
    end
    local gradient, alone = gradient_of(x, mask), gradient_of(short)
    for at, step in ipairs(kept) do
      close(gradient[{ {}, { step, step } }], alone[{ {}, { at, at } }], 1e-6, "step " .. step)
    end
    for _, step in ipairs { 2, 5 } do near(gradient[{ {}, { step, step } }]:abs():max():item(), 0, 0) end
  end
end)

case("models with masks and dropout are trained, saved and loaded", function()
  gb.config.set_seed(3)
  local x, mask = gb.Input { 5, 3 }, gb.Input { shape = { 5 }, dtype = "int32" }
  local inner = layers.LSTM(4, { return_sequences = true, dropout = 0.2, recurrent_dropout = 0.1 })
  local hidden = layers.Bidirectional(inner) { x, mask }
  local state = layers.GRU(6, { dropout = 0.1, recurrent_dropout = 0.2, seed = 3 }) { hidden, mask }
  local model = gb.Model { inputs = { x, mask }, outputs = layers.Dense(1)(state) }
  model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02 }, loss = "mse" }
  local data = gb.random.normal({ 32, 5, 3 }, { seed = 5 })
  local hides = (gb.random.uniform({ 32, 5 }, { seed = 6 }) + 0.7):cast "int32"
  local labels = data:mean(2):mean(-1, true)
  local loss = model:fit({ data, hides }, labels, { epochs = 20, batch_size = 8, verbose = 0 }).history.loss
  testing.is_true(loss[20] < loss[1], string.format("learns: %g, then %g", loss[1], loss[20]))
  local path = gb._native.options.out .. "/results/recurrent"
  model:save(path)
  close(gb.load_model(path):predict { data, hides }, model:predict { data, hides }, 1e-6, "the loaded model")
end)

case("what does not fit is named", function()
  local x = gb.zeros { 2, 5, 3 }
  raises("(LSTM): the mask must be integers or bools [5] per example, one for each step of float32[5, 3], got bool[4]",
    layers.LSTM(4), { x, gb.zeros({ 2, 4 }, { dtype = "bool" }) })
  raises("(GRU): the mask must be integers or bools [5] per example", layers.GRU(4), { x, gb.zeros { 2, 5 } })
  raises("(Bidirectional): the mask must be integers or bools [5] per example", layers.Bidirectional(layers.GRU(4)),
    { x, gb.zeros({ 2, 5, 1 }, { dtype = "bool" }) })
  raises("(LSTM): takes a sequence and a mask, got 3 inputs", layers.LSTM(4), { x, x, x })
  raises("LSTM: dropout must be at least 0 and below 1, got 1", layers.LSTM, 4, { dropout = 1 })
  raises("GRU: recurrent_dropout must be at least 0 and below 1, got -0.1", layers.GRU, 4, { recurrent_dropout = -0.1 })
end)
