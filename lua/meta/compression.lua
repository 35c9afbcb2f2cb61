---@meta
-- Smaller and faster models: pruning, int8, and a loss with a teacher.

---@class gpubench
local gb = {}

--- Smaller models by zeros among the weights, or by taking units out.
---@class gpubench.prune
gb.prune = {}

--- Models that compute in int8.
---@class gpubench.quantize
gb.quantize = {}

-- Smaller models by pruning: zeros among the weights while training goes on (names of the TensorFlow Model Optimization
-- toolkit), or whole units and filters taken out.

--- The share of zeros, step by step.
---@class SparsitySchedule
local SparsitySchedule = {}

--- The share of zeros at a step, 0 to 1.
---@param step integer from 1; where masks are chosen anew at this step
---@return number
function SparsitySchedule:at(step) end

--- The kernels of a model with masks: after every training step the masked weights are zero. One of fit's callbacks, or
--- stepped by hand. It counts steps from its making; in a training that was resumed (`fit { resume = }`), from the
--- beginning of that, with the masks that its zeros show.
---@class Pruning
local Pruning = {}

--- After each training step of a loop written by hand, and outside of gb.compile.
function Pruning:step() end

--- The share of zeros among the pruned kernels' weights. Waits for the device.
---@return number
function Pruning:sparsity() end

---@class PolynomialSparsityOptions
---@field initial_sparsity number? 0 unless given
---@field final_sparsity number the share of zeros at the end, 0 to 1
---@field begin_step integer? the first step that prunes, the very first unless given
---@field end_step integer where the final share is reached
---@field power number? above 0; 3 unless given: fast at first
---@field frequency integer? steps between two choices of the masks; 100 unless given

--- final + (initial - final) (1 - (step - begin) / (end - begin)) ^ power
---@param options PolynomialSparsityOptions
---@return SparsitySchedule
function gb.prune.PolynomialDecay(options) end

---@class ConstantSparsityOptions
---@field target_sparsity number the share of zeros, 0 to 1
---@field begin_step integer? the first step that prunes, the very first unless given
---@field end_step integer? masks are chosen no more behind it; never unless given
---@field frequency integer? 100 unless given

--- The same share of zeros from `begin_step` on.
---@param options ConstantSparsityOptions
---@return SparsitySchedule
function gb.prune.ConstantSparsity(options) end

---@class LowMagnitudeOptions
---@field schedule SparsitySchedule the share of zeros by step: gb.prune.PolynomialDecay or gb.prune.ConstantSparsity
---@field layers string[]? names; all with a kernel but the last of them unless given

--- Sets the kernels' weights of the smallest magnitude to zero, a share of each kernel. Zeros alone make a model
--- neither smaller in memory nor faster: kernels here are dense.
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

--- A new model without the units (filters) whose weights have the smallest norm, and without what the layers behind
--- read of them. Compile it anew, and train on: what the units gave is missing. Layers whose outputs are added (a
--- residual) lose the same units, those with the smallest norm over all their kernels, and take one share. Refused,
--- with the layer's name, are units of the model's outputs, those added to the model's input, and those that a layer
--- mixes in an unknown way.
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

-- Models that compute in int8, a quarter of float32's bytes: after training with a few batches to look at, or trained
-- for it. Dense and Conv2D are quantized: kernels by output channel, what they are given by one scale a layer, both
-- symmetrically (a scale times -127 to 127). Everything else stays float32; layers in a row hand on int8.

---@class QuantizeOptions
---@field calibration Dataset? batches, with or without labels; held-out training data, and never the test set. Needed
--- for every layer whose range no quantization-aware training has found
---@field batches integer? how many of them are looked at; all unless given
---@field method string? what a layer's range is: "max", the largest magnitude, unless given; "percentile"; or "mse",
--- which costs least by the squares of what rounding and saturation change
---@field percentile number? for that method: of the magnitudes that do not saturate; 99.99 unless given
---@field layers string[]? names; every Dense and Conv2D unless given

--- A new model of the same layers that computes in int8. A BatchNormalization that alone reads a quantized layer is
--- folded into it. The new model can predict, be measured, saved and, once compiled, evaluated, but not be trained. Its
--- layers have the option `quantization = "int8"`, an int8 `kernel`, and the variables `kernel_scale` and
--- `input_scale`. Where it runs, each size of batch that it has been asked in holds its kernels once more, in the order
--- that the device's product reads. int8 has no NaN: what is not a number becomes some number. A gradient through an
--- int8 layer is an error.
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
--- rounded as in int8; gradients go straight through the rounding, and stop where it saturates. The range of a layer's
--- input is a moving average of the batches' largest magnitudes (with gradient_accumulation_steps, of the parts').
--- Replicas find that of the whole batch together, as one device would: a number is exchanged in every quantized layer
--- of a forward pass. What gb.quantize.int8 makes of it needs no calibration.
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

-- A loss with a teacher.

---@class DistillationOptions
---@field teacher Model with weights; it predicts on the same inputs and is not trained
---@field loss string|Loss|LossFunction|nil of the labels, one value per example; "categorical_crossentropy" unless
--- given
---@field temperature number? softens both models' distributions; 3 unless given
---@field weight number? of the teacher's part, the labels' has the rest; 0.9 unless given
---@field from_logits boolean? the models' outputs are not yet softmax, for a loss given by name too; false unless given

--- A smaller model learns from a larger one (Hinton et al., 2015): the loss of the labels, and the cross-entropy of
--- both models' softened distributions, times the square of the temperature. In loops written by hand it is given the
--- model's inputs too.
---
--- ```lua
--- local gb = require "gpubench"
--- local function classifier(width)
---   return gb.Sequential {
---     gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
---     gb.layers.Dense(10, { activation = "softmax" }),
---   }
--- end
--- local digits = gb.datasets.mnist("train"):take(256):batch(32)
--- local teacher, student = classifier(64), classifier(8)
--- teacher:compile { optimizer = "adam", loss = "categorical_crossentropy" }
--- teacher:fit(digits, { verbose = 0 })
--- local loss = gb.losses.Distillation { teacher = teacher, temperature = 4 }
--- student:compile { optimizer = "adam", loss = loss, metrics = { "accuracy" } }
--- student:fit(digits, { epochs = 2, verbose = 0 })
--- for x, y in digits:take(1):iter() do
---   assert(loss(y, student(x), x):item() > 0)
--- end
--- ```
---@param options DistillationOptions
---@return Loss
function gb.losses.Distillation(options) end

return gb
