---@meta
-- Layers without weights that combine, activate or reorder their inputs. Names, options and defaults are those of
-- Keras.

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

---@class SoftmaxOptions: LayerOptions
---@field axis integer? counted with the batch as 0; the last unless given

--- exp(x) divided by its sum along an axis, computed in float32.
---@param axis integer|SoftmaxOptions|nil
---@param options SoftmaxOptions?
---@return Layer
function gb.layers.Softmax(axis, options) end

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
