---@meta
-- Layers: what all of them have, and the most common ones. Names, options and defaults are those of Keras.

--- A layer: an immutable description that makes its variables when its input is known. It is placed on the device that
--- was current when it was made. Applied to a SymbolicTensor it describes a model; applied to a Tensor it computes.
---
--- ```lua
--- local gb = require "gpubench"
--- local dense = gb.layers.Dense(2, { activation = "relu" })
--- local y = dense(gb.ones { 3, 4 })
--- assert(y.shape[1] == 3 and y.shape[2] == 2 and #dense.variables == 2)
--- ```
---@class Layer
---@field name string "dense", "dense_1", ... unless given
---@field kind string "Dense"
---@field dtype_policy string "mixed_bfloat16"; a type where it stores and computes in one
---@field variables Tensor[] empty until the layer is built
---@field weights Tensor[] the same as variables
---@field trainable_variables Tensor[] those that training updates; none of a frozen layer
---@field trainable_weights Tensor[] the same as trainable_variables
---@field non_trainable_variables Tensor[] the others: statistics, and the weights of a frozen layer
---@field non_trainable_weights Tensor[] the same as non_trainable_variables
---@field losses Tensor[] scalars: what its latest call on tensors has added to the loss, then the penalties of its
--- weights. What it adds in a call of its model is in the model's losses alone (Keras: in the layer's too)
---@field output SymbolicTensor? what the layer gave when it was last applied to symbols; of a layer from a model: what
--- its first call in the model gives
---@field trainable boolean whether training updates its weights; a model that has been trained is compiled again after
--- a change
---@field supports_masking boolean whether a mask reaches what is behind the layer, or ends there on purpose; a layer
--- for which it is false drops the mask and warns
---@overload fun(x: SymbolicTensor|SymbolicTensor[], options: CallOptions?): ...
---@overload fun(x: Tensor|Tensor[], options: CallOptions?): Tensor, ...
local Layer = {}

--- The mask that comes with the layer's output for these inputs, whose own masks count; nil for none. Masks are bools
--- [batch, steps], false for padding: `Embedding { mask_zero = true }` and `Masking` make them, and layers pass them on
--- as in Keras.
---
--- ```lua
--- local gb = require "gpubench"
--- local embedding = gb.layers.Embedding(10, 4, { mask_zero = true })
--- local tokens = gb.tensor({ { 3, 7, 0 } }, { dtype = "int32" })
--- assert(embedding:compute_mask(tokens):to_table()[1][3] == false)
--- assert(gb.layers.LSTM(2):compute_mask(embedding(tokens)) == nil)
--- ```
---@param inputs SymbolicTensor|SymbolicTensor[]|Tensor|Tensor[]
---@param mask SymbolicTensor|Tensor|nil instead of the one that the input has; that one unless given
---@return SymbolicTensor|Tensor|nil
function Layer:compute_mask(inputs, mask) end

--- Sets the states of a stateful recurrent layer to 0.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.LSTM(2, { stateful = true })
--- local x = gb.ones { 1, 3, 4 }
--- local first, second = layer(x):to_table(), layer(x):to_table()
--- layer:reset_state()
--- assert(first[1][1] ~= second[1][1] and layer(x):to_table()[1][1] == first[1][1])
--- ```
function Layer:reset_state() end

--- The same as reset_state.
function Layer:reset_states() end

--- Sets mean and variance of a Normalization to those of each channel, the last dimension, of the data: a tensor, or a
--- dataset of batches, whose other tensors are ignored. They are saved with the model.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.Normalization()
--- layer:adapt(gb.tensor { { 0, 7, 4 }, { 2, 9, 6 }, { 0, 7, 4 }, { 2, 9, 6 } })
--- assert(layer(gb.tensor { { 0, 7, 4 } }):to_table()[1][2] == -1)
--- ```
---@param data Dataset|Tensor
function Layer:adapt(data) end

--- Copies of the variables' values, in the order of `variables`; empty until the layer is built.
---@return Tensor[]
function Layer:get_weights() end

--- Sets the variables to what get_weights gave: as many, in the order of `variables`, of the same shapes.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.Dense(2)
--- layer(gb.ones { 1, 3 })
--- layer:set_weights { gb.ones { 3, 2 }, gb.zeros { 2 } }
--- assert(layer(gb.ones { 1, 3 }):sum():item() == 6 and layer:count_params() == 8)
--- ```
---@param weights Tensor[]
function Layer:set_weights(weights) end

--- The number of weights and statistics; 0 until the layer is built.
---@return integer
function Layer:count_params() end

--- Options of a call of a layer or a model.
---@class CallOptions
---@field training boolean? dropout drops and batch normalization uses the batch. Of tensors: false unless given; of
--- symbols: as the model is called unless given, and then always so
---@field reverse boolean? of a ReversibleEmbedding: scores of all tokens for vectors; false unless given
---@field mask SymbolicTensor|Tensor|nil of the input, bools or integers [batch, steps], for layers whose result depends
--- on it; the one that comes with the input unless given
---@field query_mask SymbolicTensor|Tensor|nil of the query of an attention layer; that of the input unless given
---@field value_mask SymbolicTensor|Tensor|nil of its value; that of the input unless given
---@field key_mask SymbolicTensor|Tensor|nil of its key; that of the input unless given
---@field initial_state SymbolicTensor|SymbolicTensor[]|Tensor|Tensor[]|nil of a recurrent layer before the first step,
--- or the states that a cell is called with: h, and of an LSTM { h, c }; zeros unless given

--- A value of a model that is being described: what gb.Input gives and layers pass on. It has the operators and methods
--- of Tensor, and gb.concat, gb.matmul, gb.pad, gb.stack and gb.where take it: each describes one more layer, which
--- computes what the same call computes of tensors. As for tensors, axes and shapes of these calls count the batch as
--- axis 0, and the result must keep it there; `shape` leaves it out. Numbers and tensors among the operands are
--- constants.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.Input { 16 }
--- local hidden = gb.layers.Dense(16)(x):relu()
--- local model = gb.Model { inputs = x, outputs = gb.concat({ (hidden + x) * 0.5, hidden:mean(-1, true) }, -1) }
--- assert(model(gb.zeros { 5, 16 }).shape[2] == 17)
--- ```
---@class SymbolicTensor: Tensor
---@field shape integer[] of one example, without the batch
---@field dtype string "float32", ...
local SymbolicTensor = {}

--- A layer with an option such as `embeddings_initializer` also takes `embeddings_regularizer` and
--- `embeddings_constraint`, as DenseOptions has kernel_regularizer and kernel_constraint.
---@class LayerOptions
---@field name string? "dense", "dense_1", ... unless given
---@field input_shape integer[]? of one example; the first layer of a Sequential; that of its input unless given
---@field trainable boolean? true unless given
---@field dtype string? a type, of its weights and of what it computes in, or a policy such as "mixed_bfloat16";
--- gb.config.dtype_policy() unless given
---@field activity_regularizer string? a regularizer of what the layer gives for an example, as a mean over the batch;
--- part of the loss. None unless given

---@class gpubench
local gb = {}

--- Layers of models, with the names, options and defaults of Keras.
---@class gpubench.layers
gb.layers = {}

---@class InputOptions
---@field shape integer[]? of one example; required here or as the first argument
---@field dtype string? gb.config.dtype_policy() unless given (of mixed ones float32); data of other types are cast
---@field name string? "input", "input_1", ... unless given
---@field batch_size integer? rows of every batch, which stateful layers need; any number unless given

--- Where data enters a model: a SymbolicTensor to which layers are applied. The shape is that of one example, without
--- the batch.
---@param shape integer[]|InputOptions
---@param options InputOptions?
---@return SymbolicTensor
function gb.Input(shape, options) end

--- The same as gb.Input.
---@param shape integer[]|InputOptions
---@param options InputOptions?
---@return SymbolicTensor
function gb.layers.Input(shape, options) end

---@class DenseOptions: LayerOptions
---@field activation string|LayerFunction|nil none unless given; a function that keeps the shape, or "relu", "relu6",
--- "leaky_relu", "elu", "selu", "gelu", "gelu_tanh", "silu" (also "swish"), "softplus", "softsign", "sigmoid", "tanh",
--- "exponential", "hard_sigmoid", "hard_silu" (also "hard_swish"), "hard_tanh", "softmax", "log_softmax", "linear"
---@field use_bias boolean? true unless given
---@field kernel_initializer string? "glorot_uniform" unless given
---@field bias_initializer string? "zeros" unless given
---@field kernel_regularizer string? "l1", "l2", "l1_l2" or one of gb.regularizers; none unless given. The penalty is
--- part of the loss that training minimizes and reports
---@field bias_regularizer string? as kernel_regularizer; none unless given
---@field kernel_constraint string? "max_norm", "min_max_norm", "non_neg", "unit_norm" or one of gb.constraints, to
--- which optimizers bring the weights after each update; none unless given
---@field bias_constraint string? as kernel_constraint; none unless given
---@field quantization string? "aware" or "int8", set by gb.quantize: rounds as int8 does in float32, or computes in it;
--- none unless given

--- activation(x W + b) over the last dimension.
---@param units integer
---@param options DenseOptions?
---@return Layer
function gb.layers.Dense(units, options) end

---@class Conv2DOptions: DenseOptions
---@field kernel_size integer|integer[]|nil height and width; required here or as the second argument
---@field strides integer|integer[]|nil 1 unless given
---@field padding string? "valid" unless given, or "same"
---@field dilation_rate integer|integer[]|nil distance of the window's rows and columns; 1 unless given
---@field groups integer? groups of channels that are convolved apart; 1 unless given, the only one that has an int8
--- form

--- Convolution of [height, width, channels] images.
---@param filters integer
---@param kernel_size integer|integer[]|Conv2DOptions
---@param options Conv2DOptions?
---@return Layer
function gb.layers.Conv2D(filters, kernel_size, options) end

--- [a, b, ...] -> [a * b * ...]: an example as one row.
---@param options LayerOptions?
---@return Layer
function gb.layers.Flatten(options) end

--- The same elements of an example in another shape; their number must fit.
---@param target_shape integer[] of one example; one size may be -1
---@param options LayerOptions?
---@return Layer
function gb.layers.Reshape(target_shape, options) end

---@class DropoutOptions: LayerOptions
---@field seed integer? drawn from the global seed unless given

--- In training sets a share of the elements to 0, each by its own number, and divides the others by 1 - rate; otherwise
--- passes its input on.
---@param rate number share that is dropped in training
---@param options DropoutOptions?
---@return Layer
function gb.layers.Dropout(rate, options) end

---@class BatchNormalizationOptions: LayerOptions
---@field axis integer? of the channels, counted with the batch as 0; the last, -1, unless given. Another one is
--- transposed to the end and back
---@field momentum number? of the moving averages, below 1; 0.99 unless given
---@field epsilon number? 0.001 unless given
---@field center boolean? adds a trained `beta`; true unless given
---@field scale boolean? multiplies by a trained `gamma`; true unless given
---@field beta_initializer string? "zeros" unless given
---@field gamma_initializer string? "ones" unless given
---@field synchronized boolean? under a strategy, normalize by the examples of all replicas; false unless given: each
---replica normalizes by its own. Costs four exchanges of a number per channel in each step. In strategy:run it is
---given the rows that a replica has of the batch, and no others. Without a strategy and in inference it changes nothing

--- Normalizes each channel by mean and variance: in training those of the batch, otherwise the moving averages; then
--- scales by a trained `gamma` and adds a trained `beta`.
---@param axis integer|BatchNormalizationOptions|nil
---@param momentum number|BatchNormalizationOptions|nil
---@param epsilon number|BatchNormalizationOptions|nil
---@param center boolean|BatchNormalizationOptions|nil
---@param scale boolean|BatchNormalizationOptions|nil
---@param beta_initializer string|BatchNormalizationOptions|nil
---@param gamma_initializer string|BatchNormalizationOptions|nil
---@param options BatchNormalizationOptions?
---@return Layer
function gb.layers.BatchNormalization(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
                                      options) end

--- Applies a function to each element: a name as for DenseOptions' `activation`, or a function of the script.
---@param activation string|LayerFunction
---@param options LayerOptions?
---@return Layer
function gb.layers.Activation(activation, options) end

---@class ConcatenateOptions: LayerOptions
---@field axis integer? counted with the batch as 0; the last unless given

--- Joins two or more inputs along one dimension: `concatenate { a, b }`. They have one type, and may differ in that
--- dimension alone.
---@param options ConcatenateOptions?
---@return Layer
function gb.layers.Concatenate(options) end

return gb
