---@meta
-- The range of a model's numbers.

---@class gpubench
local gb = {}

---@class gpubench.measure
gb.measure = {}

---@class NumericsOptions
---@field as "float32"|"float16"|"bfloat16"|nil the type whose range is asked for: what a float32 model would lose in
--- float16, say. Unless given, the type that each layer computes in, and of outputs the type that they have

---@class NumericsRow
---@field layer string
---@field value string "output", or the name of a weight: "kernel"
---@field gradient boolean whether these are the loss' derivatives by it; of the scaled loss where the model scales it
---@field dtype string the type that the values have
---@field as string the type whose range they are counted by
---@field elements integer
---@field zeros integer
---@field not_finite integer infinities and what is no number: an overflow that has happened
---@field overflows integer finite, and beyond the largest number of the type
---@field underflows integer not zero, and so small that the type has not all of its digits
---@field lost integer of the underflows: those that the type rounds to zero
---@field smallest number least magnitude that is not zero; 0 where all are
---@field largest number greatest magnitude that is finite

--- How the numbers of a compiled model lie in the range of their types, on the first batch of a dataset: the outputs and
--- trainable weights of every layer in the order of their calls, then their gradients. It computes as a training step does, dropout
--- and batch statistics included, and changes nothing.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 }, use_bias = false, kernel_initializer = "ones" }) }
--- model:compile { optimizer = "sgd", loss = function(labels, predictions) return labels * predictions end }
--- local data = gb.data.Dataset.from_tensor_slices { gb.ones { 1, 2 }, gb.tensor { { 1e-8 } } }:batch(1)
--- local lost = 0
--- for _, row in ipairs(gb.measure.numerics(model, data, { as = "float16" })) do
---   if row.gradient then lost = lost + row.lost end
--- end
--- assert(lost == 5)  -- float16 has no 1e-8: the gradients of two inputs, two weights and an output
--- ```
---@param model Model
---@param dataset Dataset
---@param options NumericsOptions?
---@return NumericsRow[]
function gb.measure.numerics(model, dataset, options) end

return gb
