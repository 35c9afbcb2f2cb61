---@meta
-- Layers that change numbers at random in training and pass their input on otherwise. A row of a batch draws the same
-- numbers however the batch is divided. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

---@class gpubench.layers
gb.layers = {}

---@class NoiseOptions: LayerOptions
---@field seed integer? drawn from the global seed unless given

--- In training adds a normally distributed number with mean 0 to each element.
---
--- ```lua
--- local gb = require "gpubench"
--- local layer, x = gb.layers.GaussianNoise(0.1), gb.zeros { 64, 64 }
--- assert(layer(x):sum():item() == 0)
--- assert(math.abs(layer(x, { training = true }):std():item() - 0.1) < 0.02)
--- ```
---@param stddev number at least 0; Keras takes no more than 1
---@param options NoiseOptions?
---@return Layer
function gb.layers.GaussianNoise(stddev, options) end

--- In training multiplies each element by a normally distributed number with mean 1 and the deviation
--- sqrt(rate / (1 - rate)), which Dropout's factors have.
---@param rate number as of Dropout
---@param options NoiseOptions?
---@return Layer
function gb.layers.GaussianDropout(rate, options) end

--- In training puts the lowest value of "selu" in the place of a share of the elements, then restores mean and
--- deviation.
---@param rate number share that is replaced in training
---@param options NoiseOptions?
---@return Layer
function gb.layers.AlphaDropout(rate, options) end

--- Dropout of whole channels of [steps, channels].
---
--- ```lua
--- local gb = require "gpubench"
--- local y = gb.layers.SpatialDropout1D(0.5)(gb.ones { 1, 10, 4 }, { training = true })
--- assert(((y:mean(1) - y:max(1)):abs():sum()):item() < 1e-6) -- a channel is 0 or 2 in all steps
--- ```
---@param rate number share of the channels that is dropped in training
---@param options NoiseOptions?
---@return Layer
function gb.layers.SpatialDropout1D(rate, options) end

--- Dropout of whole channels of [height, width, channels].
---@param rate number share of the channels that is dropped in training
---@param options NoiseOptions?
---@return Layer
function gb.layers.SpatialDropout2D(rate, options) end

return gb
