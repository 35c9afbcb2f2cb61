---@meta
-- A loss with a teacher.

---@class gpubench
local gb = {}

---@class DistillationOptions
---@field teacher Model with weights; it predicts on the same inputs and is not trained
---@field loss string|Loss|LossFunction|nil of the labels, one value per example; "categorical_crossentropy" unless given
---@field temperature number? softens both models' distributions; 3 unless given
---@field weight number? of the teacher's part, the labels' has the rest; 0.9 unless given
---@field from_logits boolean? the models' outputs are not yet softmax, for a loss given by name too; false unless given

--- A smaller model learns from a larger one (Hinton et al., 2015): the loss of the labels, and the cross-entropy of both
--- models' softened distributions, times the square of the temperature. In loops written by hand it is given the model's
--- inputs too.
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
