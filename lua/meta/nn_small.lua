---@meta
-- Small layers that combine, activate or reorder their inputs. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

---@class gpubench.layers
gb.layers = {}

--- The sum of two or more inputs: `add { a, b }`. The inputs of this and the following layers have one rank; an extent
--- of 1 is stretched.
---
--- ```lua
--- local gb = require "gpubench"
--- local x, scale = gb.ones { 2, 4, 4, 3 }, gb.ones { 2, 1, 1, 3 }
--- assert(gb.layers.Multiply() { x, scale }.shape[2] == 4)
--- ```
---@param options LayerOptions?
---@return Layer
function gb.layers.Add(options) end

--- The mean of two or more inputs, element by element: `average { a, b }`.
---@param options LayerOptions?
---@return Layer
function gb.layers.Average(options) end

--- The largest of two or more inputs, element by element.
---@param options LayerOptions?
---@return Layer
function gb.layers.Maximum(options) end

--- The smallest of two or more inputs, element by element.
---@param options LayerOptions?
---@return Layer
function gb.layers.Minimum(options) end

--- The product of two or more inputs, element by element.
---@param options LayerOptions?
---@return Layer
function gb.layers.Multiply(options) end

--- The first of two inputs less the second.
---@param options LayerOptions?
---@return Layer
function gb.layers.Subtract(options) end

---@class DotOptions: LayerOptions
---@field axes integer|integer[]|nil one axis for both inputs or one for each, counted with the batch as 0; required
--- here or as the first argument
---@field normalize boolean? divides both by their lengths along their axes first, which gives the cosine; false unless
--- given

--- The sums of products of two inputs along one axis of each: `dot { a, b }`. The result has the other axes of the
--- first, then those of the second input; of two vectors it is [1].
---
--- ```lua
--- local gb = require "gpubench"
--- local a, b = gb.tensor { { 3, 4 } }, gb.tensor { { 4, 3 } }
--- assert(gb.layers.Dot(1) { a, b }:item() == 24)
--- assert(math.abs(gb.layers.Dot(1, { normalize = true }) { a, b }:item() - 24 / 25) < 1e-6)
--- ```
---@param axes integer|integer[]|DotOptions
---@param normalize boolean|DotOptions|nil
---@param options DotOptions?
---@return Layer
function gb.layers.Dot(axes, normalize, options) end

---@class NormalizationOptions: LayerOptions
---@field mean number? of all channels; 0 unless given
---@field variance number? 1 unless given

--- (x - mean) / sqrt(variance) of each channel, the last dimension. Both are variables [channels], which hold
--- statistics of the data and are not trained: Layer:adapt computes them, or assign them.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.Normalization()
--- local x = gb.tensor { { 1, 10 }, { 3, 30 } }
--- layer(x)
--- layer.variables[1]:assign(gb.tensor { 2, 20 })
--- layer.variables[2]:assign(gb.tensor { 1, 100 })
--- assert(layer(x):to_table()[2][2] == 1)
--- ```
---@param options NormalizationOptions?
---@return Layer
function gb.layers.Normalization(options) end

---@class ReLUOptions: LayerOptions
---@field max_value number? no limit unless given
---@field negative_slope number? 0 unless given
---@field threshold number? 0 unless given

--- max_value from there on, x above the threshold, negative_slope * (x - threshold) below.
---@param max_value number|ReLUOptions|nil
---@param options ReLUOptions?
---@return Layer
function gb.layers.ReLU(max_value, options) end

---@class LeakyReLUOptions: LayerOptions
---@field negative_slope number? 0.3 unless given

--- x above 0, negative_slope * x below.
---@param negative_slope number|LeakyReLUOptions|nil
---@param options LeakyReLUOptions?
---@return Layer
function gb.layers.LeakyReLU(negative_slope, options) end

---@class ELUOptions: LayerOptions
---@field alpha number? 1 unless given

--- x above 0, alpha * (exp(x) - 1) below.
---@param alpha number|ELUOptions|nil
---@param options ELUOptions?
---@return Layer
function gb.layers.ELU(alpha, options) end

---@class PReLUOptions: LayerOptions
---@field alpha_initializer string? "zeros" unless given
---@field shared_axes integer[]? axes along which all elements have one alpha, counted with the batch as 0; none unless
--- given

--- x above 0, alpha * x below, with a trained alpha for each element of an example: `PReLU { shared_axes = { 1, 2 } }`
--- for one alpha in each channel of images.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer = gb.layers.PReLU { alpha_initializer = gb.initializers.Constant { value = 0.5 }, shared_axes = { 1 } }
--- assert(layer(gb.tensor { { -4, 2 } }):sum():item() == 0)
--- assert(layer:count_params() == 1)
--- ```
---@param alpha_initializer string|PReLUOptions|nil
---@param options PReLUOptions?
---@return Layer
function gb.layers.PReLU(alpha_initializer, options) end

---@class SoftmaxOptions: LayerOptions
---@field axis integer? counted with the batch as 0; the last unless given

--- exp(x) divided by its sum along an axis, computed in float32.
---@param axis integer|SoftmaxOptions|nil
---@param options SoftmaxOptions?
---@return Layer
function gb.layers.Softmax(axis, options) end

--- Passes its input on, as a place with a name.
---@param options LayerOptions?
---@return Layer
function gb.layers.Identity(options) end

--- Reorders the dimensions of an example, numbered from 1: `Permute({ 2, 1 })` swaps two.
---@param dims integer[]
---@param options LayerOptions?
---@return Layer
function gb.layers.Permute(dims, options) end

--- [features] -> [n, features].
---@param n integer
---@param options LayerOptions?
---@return Layer
function gb.layers.RepeatVector(n, options) end

return gb
