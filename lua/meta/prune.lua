---@meta
-- Smaller models by pruning: zeros among the weights while training goes on (names of the TensorFlow Model Optimization
-- toolkit), or whole units and filters taken out.

--- The share of zeros, step by step.
---@class SparsitySchedule
local SparsitySchedule = {}
---@param step integer from 1; where masks are chosen anew at this step
---@return number
function SparsitySchedule:at(step) end

--- The kernels of a model with masks: after every training step the masked weights are zero. One of fit's callbacks, or
--- stepped by hand. It counts steps from its making; in a training that was resumed (`fit { resume = }`), from the beginning
--- of that, with the masks that its zeros show.
---@class Pruning
local Pruning = {}
--- After each training step of a loop written by hand, and outside of gb.compile.
function Pruning:step() end
--- The share of zeros among the pruned kernels' weights. Waits for the device.
---@return number
function Pruning:sparsity() end

---@class gpubench
local gb = {}

---@class gpubench.prune
gb.prune = {}

---@class PolynomialDecayOptions
---@field initial_sparsity number? 0 unless given
---@field final_sparsity number
---@field begin_step integer? the first step that prunes, the very first unless given
---@field end_step integer where the final share is reached
---@field power number? above 0; 3 unless given: fast at first
---@field frequency integer? steps between two choices of the masks; 100 unless given

--- final + (initial - final) (1 - (step - begin) / (end - begin)) ^ power
---@param options PolynomialDecayOptions
---@return SparsitySchedule
function gb.prune.PolynomialDecay(options) end

---@class ConstantSparsityOptions
---@field target_sparsity number
---@field begin_step integer? the first step that prunes, the very first unless given
---@field end_step integer? masks are chosen no more behind it; never unless given
---@field frequency integer? 100 unless given

---@param options ConstantSparsityOptions
---@return SparsitySchedule
function gb.prune.ConstantSparsity(options) end

---@class LowMagnitudeOptions
---@field schedule SparsitySchedule
---@field layers string[]? names; all with a kernel but the last of them unless given

--- Sets the kernels' weights of the smallest magnitude to zero, a share of each kernel. Zeros alone make a model neither
--- smaller in memory nor faster: kernels here are dense.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential {
---   gb.layers.Dense(32, { activation = "relu", input_shape = { 784 } }),
---   gb.layers.Dense(10, { activation = "softmax" }),
--- }
--- model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
--- local pruning = gb.prune.low_magnitude(model, {
---   schedule = gb.prune.PolynomialDecay { final_sparsity = 0.75, end_step = 16, frequency = 4 },
--- })
--- model:fit(gb.datasets.mnist("train"):take(512):batch(32), { verbose = 0, callbacks = { pruning } })
--- assert(pruning:sparsity() == 0.75)
--- ```
---@param model Model with weights
---@param options LowMagnitudeOptions
---@return Pruning
function gb.prune.low_magnitude(model, options) end

--- A new model without the units (filters) whose weights have the smallest norm, and without what the layers behind read
--- of them. Compile it anew, and train on: what the units gave is missing. Layers whose outputs are added (a residual) lose
--- the same units, those with the smallest norm over all their kernels, and take one share. Refused, with the layer's name,
--- are units of the model's outputs, those added to the model's input, and those that a layer mixes in an unknown way.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential {
---   gb.layers.Conv2D(8, 3, { activation = "relu", input_shape = { 28, 28, 1 }, name = "filters" }),
---   gb.layers.Flatten(),
---   gb.layers.Dense(10, { activation = "softmax" }),
--- }
--- local smaller = gb.prune.shrink(model, { filters = 0.75 })
--- assert(smaller:count_params() == 2 * 9 + 2 + 26 * 26 * 2 * 10 + 10)
--- ```
---@param model Model
---@param shares table<string, number> by layer name: the share of its units that goes
---@return Model
function gb.prune.shrink(model, shares) end

return gb
