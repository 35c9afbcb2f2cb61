---@meta
-- Recurrent layers of sequences [steps, features] and their cells. Names, options and the order of gates are those of
-- Keras. The product with the inputs is one for all steps. With tanh and sigmoid, LSTM and GRU run as one op; with
-- other functions, and with cells of one's own, the steps stand one after the other in the graph.

---@class gpubench
local gb = {}

---@class gpubench.layers
gb.layers = {}

---@class CellOptions: LayerOptions
---@field activation string? a name as of Dense; "tanh" unless given
---@field use_bias boolean? true unless given
---@field kernel_initializer string? "glorot_uniform" unless given
---@field recurrent_initializer string? "orthogonal" unless given
---@field bias_initializer string? "zeros" unless given
---@field dropout number? share of the inputs that is dropped in training, the same in all steps; 0 unless given
---@field recurrent_dropout number? share of the states that is dropped in products with them in training, the same in
--- all steps; 0 unless given. As in Keras, each gate then drops its own inputs and states
---@field seed integer? of the dropout; drawn from the global seed unless given

--- Options of the layers that run over sequences: LSTM, GRU, SimpleRNN and RNN.
---@class SequenceOptions
---@field return_sequences boolean? whether the outputs of all steps are returned; false unless given: the last one
---@field return_state boolean? whether the states after the last step are returned behind the output; false unless
--- given
---@field go_backwards boolean? from the last step to the first, in which order sequences are returned; false unless
--- given
---@field stateful boolean? whether a call begins with the states that the last one left, see Layer:reset_state; the
--- input then has a batch_size; false unless given
---@field unroll boolean? changes nothing: what is one op stays one, other steps always stand one after the other in the
--- graph; false unless given
---@field zero_output_for_mask boolean? whether the output of a masked step is 0 instead of the last one; false unless
--- given

--- Options of LSTM, GRU and SimpleRNN.
---@class RecurrentOptions: CellOptions, SequenceOptions

--- Options of cells with gates: LSTM and GRU.
---@class GatedOptions
---@field recurrent_activation string? "sigmoid" unless given

---@class LSTMOptions: RecurrentOptions, GatedOptions
---@field unit_forget_bias boolean? whether the forget gate's bias begins at 1; true unless given

--- A mask comes with the input (Embedding { mask_zero = true }, Masking), as the option `mask` of the call, or as a
--- second input of bools or integers, [steps] per example: at masked steps (false or 0), the layer keeps its state, and
--- returns it again with return_sequences. A sequence that is returned has the same mask. States go in by the option
--- initial_state of the call, and come out behind the output:
---
--- ```lua
--- local gb = require "gpubench"
--- local source, target = gb.Input { 7, 3 }, gb.Input { 5, 3 }
--- local _, h, c = gb.layers.LSTM(16, { return_state = true })(source)
--- local decoder = gb.layers.LSTM(16, { return_sequences = true })
--- local outputs = gb.layers.Dense(3)(decoder(target, { initial_state = { h, c } }))
--- local seq2seq = gb.Model { inputs = { source, target }, outputs = outputs }
--- assert(seq2seq { gb.zeros { 2, 7, 3 }, gb.zeros { 2, 5, 3 } }.shape[2] == 5)
--- ```
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

---@class GRUOptions: RecurrentOptions, GatedOptions
---@field reset_after boolean? whether the reset gate is applied after the product with the state, as cuDNN's, or before
--- it; true unless given

--- Inputs, masks and states as for LSTM; its state is the output.
---@param units integer
---@param options GRUOptions?
---@return Layer
function gb.layers.GRU(units, options) end

--- activation(x W + h R + b) at each step; its state is the output. Inputs, masks and states as for LSTM.
---@param units integer
---@param options RecurrentOptions?
---@return Layer
function gb.layers.SimpleRNN(units, options) end

---@class RNNOptions: LayerOptions, SequenceOptions
---@field cell Layer|Layer[]|nil a cell, or several on top of each other; required here or as the first argument

--- Runs a cell over a sequence. The states of several cells are those of the first one, then those of the second and so
--- on. A cell of one's own is a gb.layers.custom with a state_size, whose `call` gets the states of the step before and
--- returns the output and the new ones, one after the other. It takes the cell's options only, not its weights.
---
--- ```lua
--- local gb = require "gpubench"
--- local cell = gb.layers.custom {
---   state_size = 4,
---   build = function(self, shape)
---     self.kernel = self:add_weight { name = "kernel", shape = { shape[1], 4 } }
---     self.recurrent = self:add_weight { name = "recurrent_kernel", shape = { 4, 4 } }
---   end,
---   call = function(self, x, states)
---     local state = gb.matmul(x, self.kernel) + gb.matmul(states[1], self.recurrent)
---     return state, state
---   end,
--- }
--- assert(gb.layers.RNN(cell)(gb.zeros { 2, 5, 3 }).shape[2] == 4)
--- local stack = gb.layers.RNN({ gb.layers.GRUCell(8), gb.layers.LSTMCell(6) }, { return_state = true })
--- local output, first, h, c = stack(gb.zeros { 2, 5, 3 })
--- assert(output.shape[2] == 6 and first.shape[2] == 8 and h.shape[2] == 6 and c.shape[2] == 6)
--- ```
---@param cell Layer|Layer[]|RNNOptions
---@param options RNNOptions?
---@return Layer
function gb.layers.RNN(cell, options) end

--- One step of SimpleRNN, of a batch [batch, features]: `cell(x, { initial_state = h })` returns the output and the new
--- state. In gb.layers.RNN it runs over a sequence.
---@param units integer
---@param options CellOptions?
---@return Layer
function gb.layers.SimpleRNNCell(units, options) end

---@class LSTMCellOptions: CellOptions, GatedOptions
---@field unit_forget_bias boolean? whether the forget gate's bias begins at 1; true unless given

--- One step of LSTM, as SimpleRNNCell.
---
--- ```lua
--- local gb = require "gpubench"
--- local cell = gb.layers.LSTMCell(4)
--- local h, c = gb.zeros { 2, 4 }, gb.zeros { 2, 4 }
--- for _ = 1, 3 do
---   local output
---   output, h, c = cell(gb.ones { 2, 3 }, { initial_state = { h, c } })
---   assert(output.shape[2] == 4)
--- end
--- ```
---@param units integer
---@param options LSTMCellOptions?
---@return Layer
function gb.layers.LSTMCell(units, options) end

---@class GRUCellOptions: CellOptions, GatedOptions
---@field reset_after boolean? as of GRU; true unless given

--- One step of GRU, as SimpleRNNCell.
---@param units integer
---@param options GRUCellOptions?
---@return Layer
function gb.layers.GRUCell(units, options) end

---@class StackedRNNCellsOptions: LayerOptions
---@field cells Layer[]? required here or as the first argument

--- Several cells as one: each reads the output of the one before it. `gb.layers.RNN { cell, cell }` makes it by itself.
---@param cells Layer[]|StackedRNNCellsOptions
---@param options StackedRNNCellsOptions?
---@return Layer
function gb.layers.StackedRNNCells(cells, options) end

---@class MaskingOptions: LayerOptions
---@field mask_value number? 0 unless given

--- Masks the steps whose numbers are all `mask_value`, and sets them to 0: recurrent layers, attention,
--- GlobalAveragePooling1D, losses and metrics behind the layer leave them out.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Masking { input_shape = { 5, 3 } }, gb.layers.LSTM(4), gb.layers.Dense(1) }
--- assert(model(gb.zeros { 2, 5, 3 }).shape[2] == 1)
--- ```
---@param mask_value number|MaskingOptions|nil
---@param options MaskingOptions?
---@return Layer
function gb.layers.Masking(mask_value, options) end

---@class BidirectionalOptions: LayerOptions
---@field merge_mode string? "concat" unless given, "sum", "mul" or "ave"

--- Runs an LSTM or a GRU over the sequence and over its reverse, with weights of its own for each, and merges both. It
--- takes the layer's options only, not its weights; regularizers and constraints hold for the weights of both. A second
--- input is a mask, as for LSTM; as in Keras, sequences are 0 at masked steps.
--- Runs an LSTM, a GRU or a SimpleRNN over the sequence and over its reverse, with weights of its own for each, and
--- merges both. It takes the layer's options only, not its weights. Masks and states as for LSTM: the forward layer's
--- states, then the backward layer's; as in Keras, sequences are 0 at masked steps.
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
