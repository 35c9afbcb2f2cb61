---@meta
-- Recurrent layers of sequences [steps, features]. Names, options and the order of gates are those of Keras. The
-- product with the inputs is one for all steps. Initial states and return_state are not there: a layer has one output.

---@class gpubench
local gb = {}

---@class gpubench.layers
gb.layers = {}

---@class RecurrentOptions: LayerOptions
---@field activation string? "tanh" unless given: the only one
---@field recurrent_activation string? "sigmoid" unless given: the only one
---@field use_bias boolean? true unless given
---@field kernel_initializer string? "glorot_uniform" unless given
---@field recurrent_initializer string? "orthogonal" unless given
---@field bias_initializer string? "zeros" unless given
---@field dropout number? share of the inputs that is dropped in training, the same in all steps; 0 unless given
---@field recurrent_dropout number? share of the states that is dropped in products with them in training, the same in
--- all steps; 0 unless given. As in Keras, each gate then drops its own inputs and states
---@field seed integer? of the dropout; drawn from the global seed unless given
---@field return_sequences boolean? whether the states of all steps are returned; false unless given: the last one
---@field go_backwards boolean? from the last step to the first, in which order sequences are returned; false unless
--- given

---@class LSTMOptions: RecurrentOptions
---@field unit_forget_bias boolean? whether the forget gate's bias begins at 1; true unless given

--- A second input is a mask of bools or integers, [steps] per example: at masked steps (false or 0), the layer keeps
--- its state, and returns it again with return_sequences. Layers do not pass masks on, so give it to each one; a loss
--- of the sequence counts masked steps too, which Keras leaves out.
---
--- ```lua
--- local gb = require "gpubench"
--- local x, mask = gb.Input { 20, 8 }, gb.Input { shape = { 20 }, dtype = "bool" }
--- local state = gb.layers.LSTM(16, { dropout = 0.1 }) { x, mask }
--- local masked = gb.Model { inputs = { x, mask }, outputs = gb.layers.Dense(2)(state) }
--- assert(masked:count_params() == 16 * 4 * (8 + 16 + 1) + 2 * 17)
--- local model = gb.Sequential {
---   gb.layers.LSTM(16, { return_sequences = true, input_shape = { 20, 8 } }),
---   gb.layers.LSTM(16),
---   gb.layers.Dense(2),
--- }
--- assert(model(gb.zeros { 3, 20, 8 }).shape[2] == 2)
--- ```
---@param units integer
---@param options LSTMOptions?
---@return Layer
function gb.layers.LSTM(units, options) end

---@class GRUOptions: RecurrentOptions
---@field reset_after boolean? true: the reset gate is applied after the product with the state, as cuDNN's; false is
--- refused; true unless given

--- Inputs and masks as for LSTM.
---@param units integer
---@param options GRUOptions?
---@return Layer
function gb.layers.GRU(units, options) end

---@class BidirectionalOptions: LayerOptions
---@field merge_mode string? "concat" unless given, "sum", "mul" or "ave"

--- Runs an LSTM or a GRU over the sequence and over its reverse, with weights of its own for each, and merges both. It
--- takes the layer's options only, not its weights; regularizers and constraints hold for the weights of both. A second
--- input is a mask, as for LSTM; as in Keras, sequences are 0 at masked steps.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.Bidirectional(gb.layers.GRU(8, { return_sequences = true }))
--- assert(layer(gb.zeros { 2, 5, 3 }).shape[3] == 16)
--- ```
---@param layer Layer
---@param options BidirectionalOptions?
---@return Layer
function gb.layers.Bidirectional(layer, options) end

--- Applies a layer to each step of [steps, ...], with the same weights. It takes the layer's options only, not its
--- weights.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.TimeDistributed(gb.layers.Conv2D(4, 3))
--- assert(layer(gb.zeros { 2, 5, 8, 8, 1 }).shape[5] == 4)
--- ```
---@param layer Layer
---@param options LayerOptions?
---@return Layer
function gb.layers.TimeDistributed(layer, options) end

return gb
