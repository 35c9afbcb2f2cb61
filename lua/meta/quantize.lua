---@meta
-- Models that compute in int8, a quarter of float32's bytes: after training with a few batches to look at, or trained for
-- it. Dense and Conv2D are quantized: kernels by output channel, what they are given by one scale a layer, both
-- symmetrically (a scale times -127 to 127). Everything else stays float32; layers in a row hand on int8.

---@class gpubench
local gb = {}

---@class gpubench.quantize
gb.quantize = {}

---@class QuantizeOptions
---@field calibration Dataset? batches, with or without labels; held-out training data, and never the test set. Needed for every layer whose range no quantization-aware training has found
---@field batches integer? how many of them are looked at; all unless given
---@field method string? what a layer's range is: "max", the largest magnitude, unless given; "percentile"; or "mse", which costs least by the squares of what rounding and saturation change
---@field percentile number? for that method: of the magnitudes that do not saturate; 99.99 unless given
---@field layers string[]? names; every Dense and Conv2D unless given

--- A new model of the same layers that computes in int8. A BatchNormalization that alone reads a quantized layer is folded
--- into it. The new model can predict, be measured, saved and, once compiled, evaluated, but not be trained. Its layers have
--- the option `quantization = "int8"`, an int8 `kernel`, and the variables `kernel_scale` and `input_scale`. Where it runs,
--- each size of batch that it has been asked in holds its kernels once more, in the order that the device's product reads.
--- int8 has no NaN: what is not a number becomes some number. A gradient through an int8 layer is an error.
---
--- ```lua
--- local gb = require "gpubench"
--- local digits = gb.datasets.mnist("train"):take(1024)
--- local model = gb.Sequential {
---   gb.layers.Dense(64, { activation = "relu", input_shape = { 784 } }),
---   gb.layers.Dense(10, { activation = "softmax" }),
--- }
--- model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
--- model:fit(digits:take(768):batch(32), { verbose = 0 })
--- local small = gb.quantize.int8(model, { calibration = digits:skip(768):batch(64) })
--- small:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
--- local before, after = model:evaluate(digits:batch(128)), small:evaluate(digits:batch(128))
--- assert(math.abs(before.accuracy - after.accuracy) < 0.02)
--- ```
---@param model Model with weights
---@param options QuantizeOptions?
---@return Model
function gb.quantize.int8(model, options) end

---@class QuantizationAwareOptions
---@field layers string[]? names; every Dense and Conv2D unless given

--- A new model of the same layers and weights that is trained like any other, in float32, while kernels and inputs are
--- rounded as in int8; gradients go straight through the rounding, and stop where it saturates. The range of a layer's input
--- is a moving average of the batches' largest magnitudes (with gradient_accumulation_steps, of the parts'). Replicas find that of
--- the whole batch together, as one device would: a number is exchanged in every quantized layer of a forward pass. What
--- gb.quantize.int8 makes of it needs no calibration.
---
--- ```lua
--- local gb = require "gpubench"
--- local digits = gb.datasets.mnist("train"):take(512)
--- local model = gb.quantize.aware(gb.Sequential {
---   gb.layers.Dense(32, { activation = "relu", input_shape = { 784 } }),
---   gb.layers.Dense(10, { activation = "softmax" }),
--- })
--- model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
--- model:fit(digits:batch(32), { verbose = 0 })
--- local small = gb.quantize.int8(model)
--- assert(#small.trainable_variables == 0)
--- ```
---@param model Model with weights
---@param options QuantizationAwareOptions?
---@return Model
function gb.quantize.aware(model, options) end

return gb
