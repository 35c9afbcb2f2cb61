-- Sequences against Keras (sequences_values.lua, written by sequences.py): states, cells, masks.
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/sequences_values.lua"
local close, L = compare.close, gb.layers

local function layer_of(case)
  local inner = {}
  for index, part in ipairs(case.inner or {}) do inner[index] = L[part.class](compare.copy(part.options)) end
  if #inner == 0 then return L[case.class](compare.copy(case.options)) end
  return L[case.class](#inner == 1 and inner[1] or inner, compare.copy(case.options))
end

-- The outputs of a call with the case's states and mask.
local function called(layer, x, states, mask)
  local options = { mask = mask }
  if #states > 0 then options.initial_state = states end
  return { layer(x, options) }
end

local function check_outputs(case, layer, outputs, sources)
  testing.equal(#outputs, #case.outputs)
  local total = 0
  for index, output in ipairs(outputs) do
    close(output, case.outputs[index], 1e-5, "output " .. index)
    total = output:square():sum() + total
  end
  table.move(layer.variables, 1, #layer.variables, #sources + 1, sources)
  testing.equal(#sources, #case.gradients)
  return total
end

local function set_weights(variables, values)
  testing.equal(#variables, #values)
  for index, variable in ipairs(variables) do variable:assign(compare.tensor(values[index])) end
end

-- On tensors, with gradients, and as a model.
local function check_states(case)
  local layer = layer_of(case)
  local x, states = compare.tensor(case.x), compare.tensors(case.states)
  local mask = case.mask and gb.tensor(case.mask)
  called(layer, x, states, mask)
  set_weights(layer.variables, case.weights)
  do
    local tape <close> = gb.tape()
    local sources = { x, table.unpack(states) }
    local total = check_outputs(case, layer, called(layer, x, states, mask), sources)
    local gradients = tape:gradient(total, sources)
    for index, expected in ipairs(case.gradients) do
      close(gradients[index], expected, 5e-5, "gradient " .. index)
    end
  end
  local inputs, given, symbols = { compare.symbol(x) }, { x }, {}
  for index, state in ipairs(states) do
    symbols[index] = compare.symbol(state)
    inputs[#inputs + 1], given[#given + 1] = symbols[index], state
  end
  if mask then inputs[#inputs + 1], given[#given + 1] = compare.symbol(mask), mask end
  local outputs = called(layer, inputs[1], symbols, mask and inputs[#inputs])
  local model = gb.Model { inputs = inputs, outputs = outputs }
  local result = model:predict(#given == 1 and given[1] or given)
  if #outputs == 1 then result = { result } end
  for index, expected in ipairs(case.outputs) do close(result[index], expected, 1e-5, "planned " .. index) end
end
compare.run(reference.recurrent, check_states)
compare.run(reference.cells, check_states)

compare.run(reference.stateful, function(case)
  local inputs = gb.Input { shape = { 3, 2 }, batch_size = 2 }
  local layer = L[case.class](2, { stateful = true, return_sequences = true })
  local model = gb.Model { inputs = inputs, outputs = layer(inputs) }
  model:set_weights(compare.tensors(case.weights))
  for index, x in ipairs(case.inputs) do
    close(model:predict(compare.tensor(x)), case.outputs[index], 1e-5, "batch " .. index)
  end
  layer:reset_state()
  close(model(compare.tensor(case.inputs[#case.inputs])), case.again, 1e-5, "from zero")
end)

local sequence, back = { return_sequences = true }, { return_sequences = true, go_backwards = true }
local function named(options, name) return compare.copy(options, { name = name }) end
local function embedded(tokens, name, mask)
  return L.Embedding(5, 3, { mask_zero = mask ~= false, name = name })(tokens)
end
local function pooled(x) return L.GlobalAveragePooling1D()(x) end
local function merged(kind, second, options)
  return function(a, b)
    return pooled(L[kind](options) { embedded(a, "a"), embedded(b, "b", second) })
  end
end
local function attended(a, b, residual, kind, causal)
  local x = embedded(a, "a")
  local options = { name = "attention", use_causal_mask = causal or false }
  local layer = kind == "grouped" and L.GroupQueryAttention(2, 2, 1, options) or L.MultiHeadAttention(2, 2, options)
  local y = layer { x, b and embedded(b, "b") or x }
  return pooled(residual and L.Add() { x, y } or y)
end

local nets = {
  ["LSTM and pooling"] = function(a) return pooled(L.LSTM(2, named(sequence, "lstm"))(embedded(a, "a"))) end,
  ["LSTM and GRU"] = function(a)
    return L.GRU(2, { name = "gru" })(L.LSTM(2, named(sequence, "lstm"))(embedded(a, "a")))
  end,
  ["Dense, Activation, Dropout and LayerNormalization pass"] = function(a)
    local x = L.Activation("tanh")(L.Dense(3, { name = "dense" })(embedded(a, "a")))
    return pooled(L.LayerNormalization { name = "norm" }(L.Dropout(0.5)(x)))
  end,
  ["ReLU, LeakyReLU, ELU and Rescaling pass"] = function(a)
    local x = L.LeakyReLU()(L.ReLU { negative_slope = 0.5 }(embedded(a, "a")))
    return pooled(L.Rescaling(2, 1)(L.ELU()(x)))
  end,
  ["Conv1D drops"] = function(a) return pooled(L.Conv1D(2, 2, { name = "conv" })(embedded(a, "a"))) end,
  ["Lambda drops"] = function(a) return pooled(L.Lambda(function(x) return x * 2 end)(embedded(a, "a"))) end,
  ["RMSNormalization drops"] = function(a) return pooled(L.RMSNormalization { name = "norm" }(embedded(a, "a"))) end,
  ["an operator drops"] = function(a) return pooled(embedded(a, "a") * 2) end,
  Masking = function(a)
    return pooled(L.Dense(2, { name = "dense" })(L.Masking(0.25)(embedded(a, "a", false) * 0 + 0.25)))
  end,
  Bidirectional = function(a)
    return pooled(L.Bidirectional(L.GRU(2, compare.copy(sequence)), { name = "both" })(embedded(a, "a")))
  end,
  TimeDistributed = function(a)
    return pooled(L.TimeDistributed(L.Dense(2), { name = "steps" })(embedded(a, "a")))
  end,
  go_backwards = function(a) return pooled(L.GRU(2, named(back, "gru"))(embedded(a, "a"))) end,
  ["Add of one mask"] = merged("Add", false), ["Multiply of one mask"] = merged("Multiply", false),
  ["Maximum of one mask"] = merged("Maximum", false), ["Minimum of one mask"] = merged("Minimum", false),
  ["Concatenate of steps"] = merged("Concatenate", true, { axis = 1 }),
  ["Concatenate of one mask"] = merged("Concatenate", false),
  ["Concatenate of steps, of one mask"] = merged("Concatenate", false, { axis = 1 }),
  attention = function(a) return attended(a) end,
  ["attention and a residual"] = function(a) return attended(a, nil, true) end,
  ["causal attention"] = function(a) return attended(a, nil, false, nil, true) end,
  ["attention to others"] = function(a, b) return attended(a, b) end,
  ["grouped attention and a residual"] = function(a) return attended(a, nil, true, "grouped") end,
  ["grouped causal attention to others"] = function(a, b) return attended(a, b, false, "grouped", true) end,
  ["PReLU, GroupNormalization and Identity pass"] = function(a)
    local x = L.GroupNormalization(1, { name = "norm" })(L.PReLU { name = "slopes" }(embedded(a, "a")))
    return pooled(L.Identity()(x))
  end,
  ["noise and dropping of channels pass"] = function(a)
    local x = L.GaussianNoise(1)(L.SpatialDropout1D(0.5)(embedded(a, "a")))
    return pooled(L.AlphaDropout(0.5)(L.GaussianDropout(0.5)(x)))
  end,
  Attention = function(a, b) return pooled(L.Attention() { embedded(a, "a"), embedded(b, "b") }) end,
  ["Attention by sums"] = function(a, b)
    local layer = L.Attention { score_mode = "concat", name = "attention" }
    return pooled(layer { embedded(a, "a"), embedded(b, "b") })
  end,
  -- To itself: a query whose keys are all masked, which is a departure, is masked as well.
  ["causal AdditiveAttention"] = function(a)
    local layer, x = L.AdditiveAttention { use_causal_mask = true, name = "attention" }, embedded(a, "a")
    return pooled(layer { x, x })
  end,
  ["Dot ends"] = function(a, b) return pooled(L.Dot(2) { embedded(a, "a"), embedded(b, "b") }) end,
  ["UpSampling1D drops"] = function(a) return pooled(L.UpSampling1D(2)(embedded(a, "a"))) end,
  ["ZeroPadding1D drops"] = function(a) return pooled(L.ZeroPadding1D(1)(embedded(a, "a"))) end,
  ["Cropping1D drops"] = function(a) return pooled(L.Cropping1D(1)(embedded(a, "a"))) end,
  ["Conv1DTranspose drops"] = function(a)
    return pooled(L.Conv1DTranspose(2, 2, { name = "conv" })(embedded(a, "a")))
  end,
  ["an explicit mask"] = function(a, b)
    local layer = L.Embedding(5, 3, { mask_zero = true, name = "a" })
    return pooled(L.LSTM(2, named(sequence, "lstm"))(layer(a), { mask = layer:compute_mask(b) }))
  end,
}
for _, kind in ipairs { "Add", "Average", "Subtract", "Multiply", "Maximum", "Minimum", "Concatenate" } do
  nets[kind] = merged(kind)
end

local tokens = gb.tensor({ { 3, 1, 0, 4 }, { 0, 2, 2, 0 }, { 1, 4, 3, 2 } }, { dtype = "int64" })
local others = gb.tensor({ { 2, 0, 3, 0 }, { 1, 1, 0, 4 }, { 0, 3, 4, 1 } }, { dtype = "int64" })

-- Sets a model's weights from a case, whose layers have the same names, and returns Keras' `after` in its order.
local function matched(model, case, start, after)
  local places, found = {}, {}
  for index, layer in ipairs(case.layers) do
    places[layer] = places[layer] or {}
    table.insert(places[layer], index)
  end
  for index, variable in ipairs(model.trainable_variables) do
    local place = table.remove(places[variable.name:match "^[^/]+"], 1)
    variable:assign(compare.tensor(start[place]))
    found[index] = after[place]
  end
  return found
end

-- Gradients of a net in training would need its dropout off; both are called for inference. A net reads one or both.
compare.run(reference.masks, function(case)
  local a, b = gb.Input { shape = { 4 }, dtype = "int64" }, gb.Input { shape = { 4 }, dtype = "int64" }
  local output = nets[case.net](a, b)
  local ok, model = pcall(gb.Model, { inputs = { a, b }, outputs = output })
  local inputs = { tokens, others }
  if not ok then model, inputs = gb.Model { inputs = a, outputs = output }, tokens end
  local gradients_of = matched(model, case, case.weights, case.gradients)
  close(model:predict(inputs), case.output, 1e-5, "planned")
  local tape <close> = gb.tape()
  local result = model(inputs)
  close(result, case.output, 1e-5, "output")
  local gradients = tape:gradient(result:square():sum(), model.trainable_variables)
  for index, expected in ipairs(gradients_of) do close(gradients[index], expected, 5e-5, "gradient " .. index) end
end)

compare.run(reference.normalized, function(case)
  local x, mask = compare.tensor(case.x), gb.tensor(case.mask)
  local layer = L.BatchNormalization { momentum = 0.7 }
  layer(x)
  set_weights(layer.variables, case.weights)
  close(layer(x, { training = true, mask = mask }), case.output, 2e-5, "output")
  for index, variable in ipairs(layer.variables) do close(variable, case.after[index], 1e-5, "weight " .. index) end
end)

compare.run(reference.softened, function(case)
  close(L.Softmax()(compare.tensor(case.x), { mask = gb.tensor(case.mask) }), case.output, 1e-6, "output")
end)

for _, options in ipairs { {}, { execution = "eager" } } do
  print("compiled with " .. testing.show(options))
  compare.run(reference.trained, function(case)
    local symbol = gb.Input { shape = { 4 }, dtype = "int64" }
    local x = L.LSTM(2, named(sequence, "lstm"))(embedded(symbol, "a"))
    local last = L.Dense(case.units, { activation = case.activation, name = "last" })
    local model = gb.Model { inputs = symbol, outputs = last(x) }
    local after = matched(model, case, case.start, case.after)
    local metrics = {}
    for index, name in ipairs(case.metrics) do
      metrics[index] = name == "sparse_top_k_categorical_accuracy"
        and gb.metrics.SparseTopKCategoricalAccuracy { k = 2 } or name
    end
    model:compile(compare.copy(options, {
      optimizer = gb.optimizers.SGD { learning_rate = 0.1 }, metrics = metrics,
      weighted_metrics = #case.weighted > 0 and case.weighted or nil,
      loss = case.loss == "sum" and gb.losses.MeanSquaredError { reduction = "sum" } or case.loss,
    }))
    local labels, weights = compare.tensor(case.labels), case.step_weights and compare.tensor(case.step_weights)
    local function figures(logs)
      local values = { logs.loss }
      for _, name in ipairs(case.metrics) do values[#values + 1] = logs[name] end
      for _, name in ipairs(case.weighted) do values[#values + 1] = logs["weighted_" .. name] or logs[name] end
      return values
    end
    close(figures(model:evaluate(tokens, labels, { batch_size = 2, sample_weight = weights, verbose = 0 })),
      case.evaluated, 1e-5, "evaluated")
    local history = model:fit(tokens, labels,
      { batch_size = 2, sample_weight = weights, shuffle = false, verbose = 0 }).history
    local logs = {}
    for name, values in pairs(history) do logs[name] = values[1] end
    close(figures(logs), case.fitted, 1e-5, "fitted")
    for index, variable in ipairs(model.trainable_variables) do
      close(variable, after[index], 1e-5, variable.name)
    end
  end)
end
