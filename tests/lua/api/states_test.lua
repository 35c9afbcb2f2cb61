-- States of recurrent layers: returned, given, kept; cells. Their numbers are held against Keras in
-- tests/peers/conformance/sequences_test.lua.
local gb = require "gpubench"
local testing = require "testing"

local L, case, raises, equal = gb.layers, testing.case, testing.raises, testing.equal
local function close(actual, expected, what)
  testing.is_true((actual - expected):abs():max():item() < 1e-5, what)
end
local function steps(x, first, last) return x[{ {}, { first, last } }] end

for _, kind in ipairs { "LSTM", "GRU", "SimpleRNN" } do
  case("a sequence in two parts is the whole sequence for " .. kind, function()
    local x = gb.random.normal({ 3, 6, 2 }, { seed = 1 })
    local layer = L[kind](4, { return_state = true, return_sequences = true })
    local whole = { layer(x) }
    local first = { layer(steps(x, 1, 2)) }
    local second = { layer(steps(x, 3, 6), { initial_state = { table.unpack(first, 2) } }) }
    close(gb.concat({ first[1], second[1] }, 1), whole[1], "outputs")
    for index = 2, #whole do close(second[index], whole[index], "state " .. index - 1) end
    local kept = L[kind](4, { stateful = true })
    kept(steps(x, 1, 2))
    for index, variable in ipairs(kept.variables) do variable:assign(layer.variables[index]) end
    kept:reset_state()
    kept(steps(x, 1, 2))
    close(kept(steps(x, 3, 6)), steps(whole[1], 6, 6):sum(1), "kept states")
  end)
end

case("an encoder's states train with the decoder", function()
  gb.config.set_seed(4)
  local source, target = gb.Input { 4, 3 }, gb.Input { 3, 3 }
  local encoder = L.LSTM(8, { return_state = true, name = "encoder" })
  local _, h, c = encoder(source)
  local decoded = L.LSTM(8, { return_sequences = true })(target, { initial_state = { h, c } })
  local model = gb.Model { inputs = { source, target }, outputs = L.Dense(2)(decoded) }
  model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02 }, loss = "mse" }
  local x = gb.random.normal({ 32, 4, 3 }, { seed = 5 })
  local y = x:mean(1, true):mean(-1, true):tile { 1, 3, 2 }
  local before = encoder.variables[1]:to_table()[1][1]
  local loss = model:fit({ x, gb.zeros { 32, 3, 3 } }, y, { epochs = 20, batch_size = 8, verbose = 0 }).history.loss
  testing.is_true(loss[20] < loss[1] / 2, string.format("learns: %g, then %g", loss[1], loss[20]))
  testing.is_true(encoder.variables[1]:to_table()[1][1] ~= before, "the encoder is trained through its states")
  testing.is_true(model:summary_text():find("[batch, 8], [batch, 8], [batch, 8]", 1, true), "a summary")
end)

-- A cell of one's own with the weights of SimpleRNNCell.
local function own_cell(units)
  return L.custom {
    state_size = units,
    build = function(self, shape)
      self.kernel = self:add_weight { name = "kernel", shape = { shape[1], units } }
      self.recurrent = self:add_weight { name = "recurrent_kernel", shape = { units, units } }
      self.bias = self:add_weight { name = "bias", shape = { units }, initializer = "zeros" }
    end,
    call = function(self, x, states)
      local state = (gb.matmul(x, self.kernel) + self.bias + gb.matmul(states[1], self.recurrent)):tanh()
      return state, state
    end,
  }
end

case("a cell of one's own runs as a built-in one", function()
  local x = gb.random.normal({ 2, 5, 3 }, { seed = 2 })
  local own = L.RNN(own_cell(4), { return_sequences = true, return_state = true, name = "own" })
  local simple = L.SimpleRNN(4, { return_sequences = true, return_state = true })
  simple(x)
  own(x)
  for index, variable in ipairs(own.variables) do variable:assign(simple.variables[index]) end
  local a, a_state = own(x, { initial_state = gb.ones { 2, 4 } })
  local b, b_state = simple(x, { initial_state = gb.ones { 2, 4 } })
  close(a, b, "outputs")
  close(a_state, b_state, "states")
  local symbol = gb.Input { 5, 3 }
  local model = gb.Model { inputs = symbol, outputs = L.Dense(1)((own(symbol))) }
  model:compile { optimizer = "adam", loss = "mse" }
  local loss = model:fit(x, gb.ones { 2, 5, 1 }, { epochs = 30, verbose = 0 }).history.loss
  testing.is_true(loss[30] < loss[1], "it learns")
  local path = gb._native.options.out .. "/results/cells"
  model:save(path)
  raises("layer 'own' needs a function of the script", gb.load_model, path)
  close(gb.load_model(path, { custom_objects = { own = own_cell(4) } }):predict(x), model:predict(x), "loaded")
end)

case("stacks of cells are saved and drop in training", function()
  local stack = L.RNN({ L.LSTMCell(3, { dropout = 0.4 }), L.GRUCell(2) }, { return_sequences = true })
  local symbol = gb.Input { 5, 3 }
  local model = gb.Model { inputs = symbol, outputs = stack(symbol) }
  equal(#model.variables, 6)
  equal(model.variables[1].name, "rnn/cell/cell_1/kernel")
  local x = gb.ones { 2, 5, 3 }
  close(model(x), model(x), "inference is the same")
  testing.is_true((model(x, { training = true }) - model(x)):abs():max():item() > 1e-4, "training drops")
  local path = gb._native.options.out .. "/results/stack"
  model:save(path)
  close(gb.load_model(path):predict(x), model:predict(x), "loaded")
end)

case("stateful layers need the size of the batch, and keep to it", function()
  raises("gb.Input { shape = , batch_size = }", function()
    local symbol = gb.Input { 4, 2 }
    return gb.Model { inputs = symbol, outputs = L.LSTM(2, { stateful = true })(symbol) }
  end)
  local symbol = gb.Input { shape = { 4, 2 }, batch_size = 3 }
  local model = gb.Model { inputs = symbol, outputs = L.GRU(2, { stateful = true })(symbol) }
  local x = gb.ones { 3, 4, 2 }
  testing.is_true((model:predict(x) - model:predict(x)):abs():max():item() > 1e-4, "the second call goes on")
  raises("has the batch_size 3, got a batch of 2", model, gb.ones { 2, 4, 2 })
  local layer = L.LSTM(2, { stateful = true })
  layer(x)
  raises("keeps the states of a batch of 3, got 2", layer, gb.ones { 2, 4, 2 })
  raises("has no state that outlives a call", L.LSTM(2).reset_state, L.LSTM(2))
  raises("the layer must not be stateful", L.Bidirectional, L.GRU(2, { stateful = true }))
end)

case("what does not fit is named", function()
  local x = gb.zeros { 2, 4, 3 }
  local function state(...) return { initial_state = { ... } } end
  raises("(LSTM): has 2 states, of 2 and 2 numbers, got 1", L.LSTM(2), x, state(gb.zeros { 2, 2 }))
  raises("state 1 must be floating-point [2] per example, got float32[3]", L.GRU(2), x, state(gb.zeros { 2, 3 }))
  raises("the initial state must be float32[2, 2], got float32[3, 2]", L.GRU(2), x, state(gb.zeros { 3, 2 }))
  raises("(LSTMCell): has 2 states, of 2 and 2 numbers, got 0: a cell is called with", L.LSTMCell(2), gb.zeros { 2, 3 })
  raises("(Dense): takes no initial_state", L.Dense(2), x, state(x))
  raises("option 'initial_state': a state or a list of them is expected, got none", L.GRU(2), x, { initial_state = {} })
  raises("RNN: a cell is expected, got Dense", L.RNN, L.Dense(2))
  raises("RNN: the option 'cell': no layer: 'LSTM'", L.RNN, "LSTM")
  raises("its cells: layer", L.RNN, { L.GRUCell(2), own_cell(2) })
  raises("positive sizes", L.custom, { call = function(v) return v end, state_size = 0 })
  local nothing = L.custom { state_size = 2, call = function() end }
  raises("its function returned nothing", L.RNN(nothing), x)
  local one = L.custom { state_size = 2, call = function(_, v) return v end }
  raises("is a cell with 1 state and must return its output and as many states", L.RNN(one), x)
  local wrong = L.custom { state_size = 2, call = function(_, v) return v, v end }
  raises("is a cell whose state 1 must be [batch, 2], and it returned", L.RNN(wrong), x)
end)
