---@meta
-- Layers whose body is a function of the script. The function is traced whenever the layer joins a graph, like that of
-- gb.compile, so that such layers have gradients, memory plan, flops, recomputation, offload, accumulation, mixed
-- precision and replicas like all others. It is called several times with tensors that have no values; their first
-- dimension is the batch. It returns one tensor with the batch as its first dimension.

---@class gpubench
local gb = {}

--- `x` is one tensor, or a list where the layer has several inputs.
---@alias LayerFunction fun(x: Tensor|Tensor[], training: boolean?): Tensor

--- A layer that computes `fn(x)`. In training, gb.random functions in it draw anew in every step. Other layers and
--- gb.Variable may be read in it; a weight that no layer of the model has is refused by fit, since it would not be
--- trained.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential {
---   gb.layers.Dense(8, { activation = function(x) return x:maximum(x * 0.1) end, input_shape = { 4 } }),
---   gb.layers.Lambda(function(x) return x / (x:square():sum(-1, true) + 1e-6):sqrt() end),
--- }
--- assert(math.abs(model(gb.ones { 2, 4 }):square():sum():item() - 2) < 1e-3)
--- ```
---@param fn LayerFunction
---@param options LayerOptions?
---@return Layer
function gb.layers.Lambda(fn, options) end

--- A weight of a layer that gb.layers.custom makes.
---@class WeightOptions
---@field name string? weight, weight_1 and so on unless given; each weight of a layer needs its own
---@field shape integer[]? a scalar unless given
---@field initializer string? "glorot_uniform" unless given
---@field trainable boolean? false for a statistic; true unless given

--- The `self` of a layer that gb.layers.custom makes.
---@class CustomLayer
---@field add_weight fun(self: CustomLayer, options: WeightOptions): Tensor in build only
---@field add_loss fun(self: CustomLayer, loss: Tensor) in call only: the sum of the tensor's numbers is part of the
--- loss of the batch, in fit and in model.losses. Parts of a batch, of replicas or gradient_accumulation_steps, count
--- by their shares, as means do
---@field [string] any what build and call keep in it

---@class CustomOptions: LayerOptions
---@field build (fun(self: CustomLayer, shape: integer[]|integer[][]))? makes weights; the shape is that of one example;
--- no weights unless given
---@field call fun(self: CustomLayer, x: Tensor|Tensor[], training: boolean, mask: Tensor|table|nil): Tensor, ...
--- computes the layer's outputs, mostly one; traced, as the functions of this page. Of several inputs, `mask` is a list
--- with false for none. Of a cell: fun(self, x, states, training), which returns the output and the new states
---@field supports_masking boolean? whether the output has the mask of the first input; false unless given: the mask is
--- dropped, with a warning
---@field compute_mask (fun(self: CustomLayer, x: Tensor|Tensor[], mask: Tensor|table|nil): Tensor?)? the mask of the
--- output, bools [batch, steps]; as supports_masking says unless given
---@field state_size integer|integer[]|nil the sizes of the states of a cell of gb.layers.RNN; no cell unless given

--- A layer with weights of its own. `build` is called once for each model that is described, and for shapes alone
--- before, always with a `self` of its own. Weights and layers that it puts into fields of `self` belong to the layer:
--- weights first, then layers in the order in which `build` makes them. In Keras it is the order of assignments,
--- another one only where they are not assigned as they are made.
--- Under a mixed policy, weights are cast to the type of computation where `call` reads them. Statistics are changed by
--- `self.mean:assign(value)` in `call`.
---
--- ```lua
--- local gb = require "gpubench"
--- local function scaled_residual(units)
---   return gb.layers.custom {
---     name = "scaled_residual",
---     build = function(self, shape)
---       self.scale = self:add_weight { name = "scale", shape = { shape[#shape] }, initializer = "ones" }
---       self.inner = gb.layers.Dense(units, { activation = "relu" })
---     end,
---     call = function(self, x, training)
---       return x + self.inner(x, { training = training }) * self.scale
---     end,
---   }
--- end
--- local model = gb.Sequential { gb.layers.Dense(8, { input_shape = { 4 } }), scaled_residual(8), gb.layers.Dense(2) }
--- assert(model:get_layer("scaled_residual").variables[1].name == "scaled_residual/scale")
--- ```
---@param options CustomOptions
---@return Layer
function gb.layers.custom(options) end

return gb
