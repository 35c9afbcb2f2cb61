---@meta
-- Models: Sequential, the functional form, their weights and files. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

--- Layers joined from inputs to outputs. Called with tensors it computes, eagerly, under gb.tape and inside gb.compile;
--- called with a SymbolicTensor it is a layer of another model.
---@class Model
---@field name string "model" or "sequential" unless given
---@field inputs SymbolicTensor[] empty while the input's shape is not known
---@field outputs SymbolicTensor[] empty while the input's shape is not known
---@field layers Layer[] in the order of the summary, which is that of Keras: those that are farthest from the outputs
--- first, the layers of a model inside together. A model that an earlier version saved keeps the order of its file
---@field variables Tensor[] weights and statistics of all layers, in their order; empty until the model is built
---@field weights Tensor[] the same as variables
---@field trainable_variables Tensor[] those that training updates
---@field trainable_weights Tensor[] the same as trainable_variables
---@field non_trainable_variables Tensor[] the others: statistics, and the weights of frozen layers
---@field non_trainable_weights Tensor[] the same as non_trainable_variables
---@field losses Tensor[] scalars, for a loop by hand: what layers have added in the latest call on tensors (activity
--- regularizers, add_loss of custom layers), then the penalties of the weights (kernel_regularizer and others). fit
--- adds them itself
---@field trainable boolean whether any layer is trained; setting it sets all layers
---@overload fun(x: Tensor|table, options: CallOptions?): Tensor
---@overload fun(x: SymbolicTensor|table, options: CallOptions?): SymbolicTensor
local Model = {}

--- Prints layers, shapes and parameter counts.
function Model:summary() end

--- What Model:summary prints, as text.
---@return string
function Model:summary_text() end

---@class CountParamsOptions
---@field trainable boolean? true: only weights that training updates; false: only the others; all unless given

--- The number of weights and statistics.
---@param options CountParamsOptions?
---@return integer
function Model:count_params(options) end

---@class LayerChoice
---@field name string? of the layer; one of both is needed, none unless given
---@field index integer? as in `layers`, from 1; none unless given

--- A layer by its name or its index.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(8, { input_shape = { 4 } }), gb.layers.Dense(2) }
--- local features = gb.Model { inputs = model.inputs, outputs = model:get_layer("dense").output }
--- assert(features(gb.zeros { 3, 4 }).shape[2] == 8)
--- ```
---@param layer string|LayerChoice
---@return Layer
function Model:get_layer(layer) end

--- Adds a layer, or a model of one input and output, behind the others of a Sequential. Layers that are there keep
--- their weights, and the model stays compiled. What was made with this model before, such as a Model around it, goes
--- on with the layers that it had then.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential()
--- model:add(gb.Input { 4 })
--- model:add(gb.layers.Dense(8, { activation = "relu" }))
--- model:add(gb.layers.Dense(2))
--- assert(model:count_params() == 4 * 8 + 8 + 8 * 2 + 2)
--- ```
---@param layer Layer|Model|SymbolicTensor
function Model:add(layer) end

--- Takes the last part of a Sequential away and returns it.
---@return Layer|Model|SymbolicTensor
function Model:pop() end

--- Copies of the variables' values, in the order of `variables`.
---@return Tensor[]
function Model:get_weights() end

--- Sets the variables to what get_weights gave: as many, in the order of `variables`, of the same shapes.
---@param weights Tensor[]
function Model:set_weights(weights) end

--- Writes the folder `path`: architecture.json and weights.safetensors. Functions of the script (Lambda, custom layers,
--- activations) are stored by their position in the script only; gb.load_model gets them again. A model with an
--- operator on a tensor of the script cannot be saved so; save_weights always works.
---@param path string
function Model:save(path) end

--- Layers, options and connections as text, which Model:save writes into architecture.json; no weights.
---@return string
function Model:to_json() end

--- Writes the variables into a safetensors file, by their names.
---@param path string a .safetensors file
function Model:save_weights(path) end

--- With a path alone: what save_weights wrote. With a table: weights that another program saved as safetensors.
--- `names` says which of the file's tensors each weight ("conv1/kernel") is: a table, or a function of the weight's
--- name; { "a", "b" } adds tensors, and { "qkv", part = 2, of = 3 } takes the second third of the outputs. Weights that
--- a table leaves out have their own names. In the `layout` "torch", kernels are transposed: of Dense and of attention
--- from [out, in], of Conv1D from [out, in, width], of Conv2D, DepthwiseConv2D and SeparableConv2D from [out, in,
--- height, width], of Conv2DTranspose from [in, out, height, width], and of LSTM from [4 units, in], whose bias is the
--- sum of two; tables of Embedding and vectors are the same. GRU orders its gates otherwise in PyTorch. Shapes may join
--- or divide neighbouring dimensions. Missing tensors and other shapes are errors that name both sides, before any
--- weight has changed.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 }, name = "fc" }) }
--- local path = gb._native.options.out .. "/results/weights.safetensors"
--- model:save_weights(path)
--- model:load_weights { path, names = { ["fc/kernel"] = "fc/kernel" } }
--- model:load_weights { path, names = function(weight) return weight end }
--- local ok, message = pcall(model.load_weights, model, { path, layout = "torch" })
--- assert(not ok and message:find "tensor 'fc/kernel' is float32%[3, 2%], here float32%[2, 3%]")
--- ```
---@param from string|LoadWeightsOptions
function Model:load_weights(from) end

--- Which tensors of a file a weight is made of.
---@class WeightOrigin
---@field [integer] string tensors of the file, which are added
---@field part integer? of equal parts of the output dimension, which one (1)
---@field of integer? how many (1)

---@class LoadWeightsOptions
---@field [integer] string the file
---@field names table<string, string|WeightOrigin>|fun(weight: string): string|WeightOrigin|nil which of the file's
--- tensors each weight is; its own name unless given
---@field layout "keras"|"torch"|nil how kernels are stored ("keras", as here)

---@class SequentialOptions
---@field [integer] Layer|Model|SymbolicTensor models have one input and one output
---@field name string? "sequential" unless given

--- A chain of layers. Layers of a model in it stay shared with that model; one without a name of the user gets another
--- name where its own is taken.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential {
---   gb.layers.Conv2D(8, 3, { activation = "relu", input_shape = { 28, 28, 1 } }),
---   gb.layers.MaxPooling2D(2),
---   gb.layers.Flatten(),
---   gb.layers.Dense(10, { activation = "softmax" }),
--- }
--- assert(model:count_params() == 8 * 9 + 8 + 13 * 13 * 8 * 10 + 10)
--- ```
---@param layers (Layer|Model|SymbolicTensor)[]|SequentialOptions|nil none unless given: Model:add adds them
---@return Model
function gb.Sequential(layers) end

---@class ModelOptions
---@field inputs SymbolicTensor|SymbolicTensor[]|table<string, SymbolicTensor> what gb.Input gave
---@field outputs SymbolicTensor|SymbolicTensor[]|table<string, SymbolicTensor> what layers gave for them
---@field name string? "model" unless given

--- A model of any shape: branches, residuals, several inputs and outputs.
---
--- Tables by names, as Keras' dictionaries, are in the order of their names: so are model.inputs, and the tensors of a
--- Dataset's elements, inputs in front of labels. With names of outputs, calls and predict give a table by these names,
--- and loss, loss_weights, metrics and figures have them ("mask_loss"). Inputs, labels and weights of examples may be
--- given by names too, to every model: a list's names are those of its Input layers, and of the layers that give its
--- outputs. Names that are missing are errors, and so are others (Keras takes some such tables by position).
---
--- ```lua
--- local gb = require "gpubench"
--- local left, right = gb.Input { 4 }, gb.Input { 2 }
--- local both = gb.layers.Concatenate() { left, right }
--- local model = gb.Model {
---   inputs = { left = left, right = right },
---   outputs = { kind = gb.layers.Dense(3, { activation = "softmax" })(both), size = gb.layers.Dense(1)(both) },
--- }
--- model:compile { optimizer = "sgd", loss = { kind = "sparse_categorical_crossentropy", size = "mse" },
---   metrics = { kind = "accuracy" } }
--- local x = { left = gb.ones { 8, 4 }, right = gb.zeros { 8, 2 } }
--- local labels = { kind = gb.zeros({ 8 }, { dtype = "int64" }), size = gb.ones { 8, 1 } }
--- local history = model:fit(x, labels, { verbose = 0 }).history
--- assert(history.kind_accuracy and history.size_loss)
--- assert(model:predict(x).kind.shape[2] == 3)
--- ```
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.Input { 16 }
--- local hidden = gb.layers.Dense(16, { activation = "relu" })(x)
--- local sum = gb.layers.Add() { hidden, x }
--- local model = gb.Model { inputs = x, outputs = gb.layers.Dense(2)(sum) }
--- assert(model(gb.zeros { 5, 16 }).shape[1] == 5)
--- ```
---@param options ModelOptions
---@return Model
function gb.Model(options) end

---@class LoadOptions
---@field custom_objects table<string, LayerFunction|Layer>? by layer name: the function of a Lambda or an activation;
--- for a custom layer, a layer that gb.layers.custom makes with the same functions; none unless given

--- The model in a folder that Model:save has written, with its weights. It is not compiled.
---@param path string a folder that Model:save has written
---@param options LoadOptions?
---@return Model
function gb.load_model(path, options) end

--- A model with the layers of Model:to_json, and weights of its own.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
--- local other = gb.model_from_json(model:to_json())
--- other:set_weights(model:get_weights())
--- assert(other:count_params() == 8)
--- ```
---@param json string what Model:to_json gave
---@param options LoadOptions?
---@return Model
function gb.model_from_json(json, options) end

return gb
