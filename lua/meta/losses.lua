---@meta
-- Losses. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

--- A loss as an object; called, it gives one number for the batch, for loops written by hand. A third argument is the
--- weights of the examples, [batch] or [batch, steps], or for a Distillation the model's inputs.
---
--- ```lua
--- local gb = require "gpubench"
--- local loss = gb.losses.MeanSquaredError()
--- assert(loss(gb.tensor { 1, 2 }, gb.tensor { 1, 4 }):item() == 2)
--- assert(loss(gb.tensor { 1, 2 }, gb.tensor { 1, 4 }, gb.tensor { 1, 0.5 }):item() == 1)
--- ```
---@class Loss
---@field name string such as "mean_squared_error"
---@overload fun(labels: Tensor, predictions: Tensor, sample_weight: Tensor?): Tensor
---@overload fun(labels: Tensor, predictions: Tensor, inputs: Tensor|Tensor[]): Tensor
local Loss = {}

---@class LossOptions
---@field reduction string? "sum_over_batch_size" unless given; "mean" is the same, "sum" adds the examples up, "none"
--- gives a value for each example, for loops written by hand only. With weights of examples, sums are divided by the
--- number of examples. Keras' "mean_with_sample_weight" is missing

---@class FromLogits: LossOptions
---@field from_logits boolean? the predictions are not yet softmax or sigmoid; false unless given. Probabilities are
--- limited to [1e-7, 1 - 1e-7]; the gradient of one beyond is that at the limit, so that it can come back (Keras: 0)

---@class SmoothedOptions: FromLogits
---@field label_smoothing number? share by which labels move towards all classes alike; 0 unless given

---@class SparseOptions: FromLogits
---@field ignore_class integer? a label that is no class, such as -1 or 255: its places have no loss, and the mean is
--- that of the others; none unless given

---@class FocalOptions: SmoothedOptions
---@field gamma number? the cross-entropy is multiplied by (1 - p) ^ gamma, p being the probability of the label; 2
--- unless given

---@class BinaryFocalOptions: FocalOptions
---@field apply_class_balancing boolean? weighs the classes by `alpha`; false unless given
---@field alpha number? weight of class 1, that of class 0 is 1 - alpha; 0.25 unless given

---@class CategoricalFocalOptions: FocalOptions
---@field alpha number|number[]|nil factor of all classes, or one for each; 0.25 unless given

---@class CosineOptions: LossOptions
---@field axis integer? the dimension of the vectors, not the batch's; -1 unless given

---@class OverlapOptions: LossOptions
---@field axis integer|integer[]|nil dimensions to sum over, counted from 0: { 1, 2, 3 } gives a value for each image;
--- all unless given, which gives one for the batch (of a replica, or of a part) and takes no weights of examples

---@class TverskyOptions: OverlapOptions
---@field alpha number? weight of what predictions miss; 0.5 unless given
---@field beta number? weight of what they have too much; 0.5 unless given

---@class HuberOptions: LossOptions
---@field delta number? error above which the loss is a straight line; 1 unless given

--- Losses, for compile and for loops written by hand. Options may stand without their names in Keras' order, in front
--- of a table of others: gb.losses.Huber(0.5, "sum").
---@class gpubench.losses
gb.losses = {}

--- Cross-entropy of classes: labels [batch, ..., classes], one-hot or shares that add up to 1, and predictions of that
--- shape.
---@param options SmoothedOptions?
---@return Loss
function gb.losses.CategoricalCrossentropy(options) end

--- Predictions [batch, ..., classes], labels [batch, ...].
---@param options SparseOptions?
---@return Loss
function gb.losses.SparseCategoricalCrossentropy(options) end

--- Cross-entropy of two classes: labels 0 or 1 and predictions from 0 to 1 (logits with `from_logits`), of one shape.
---@param options SmoothedOptions?
---@return Loss
function gb.losses.BinaryCrossentropy(options) end

--- Cross-entropy of two classes in which what is already right counts less, for classes of which one is rare.
---
--- ```lua
--- local gb = require "gpubench"
--- local loss = gb.losses.BinaryFocalCrossentropy { gamma = 2 }
--- assert(loss(gb.tensor { 1 }, gb.tensor { 0.9 }):item() < 0.01 * loss(gb.tensor { 1 }, gb.tensor { 0.3 }):item())
--- ```
---@param options BinaryFocalOptions?
---@return Loss
function gb.losses.BinaryFocalCrossentropy(options) end

--- The same of several classes, with one-hot labels.
---@param options CategoricalFocalOptions?
---@return Loss
function gb.losses.CategoricalFocalCrossentropy(options) end

--- max(0, 1 + the largest prediction of another class - that of the label's), of one-hot labels.
---@param options LossOptions?
---@return Loss
function gb.losses.CategoricalHinge(options) end

--- Minus the cosine of the angle between labels and predictions, over one dimension.
---@param options CosineOptions?
---@return Loss
function gb.losses.CosineSimilarity(options) end

--- 1 - 2 sum(labels * predictions) / (sum(labels) + sum(predictions)): how little two masks overlap.
---
--- ```lua
--- local gb = require "gpubench"
--- local loss = gb.losses.Dice { axis = { 1, 2 }, reduction = "none" }
--- local mask = gb.tensor { { { 0, 1 }, { 1, 1 } } }
--- assert(loss(mask, mask):item() < 1e-6)
--- ```
---@param options OverlapOptions?
---@return Loss
function gb.losses.Dice(options) end

--- max(0, 1 - labels * predictions), of labels -1 and 1. A batch that has only 0 and 1 is taken for these.
---@param options LossOptions?
---@return Loss
function gb.losses.Hinge(options) end

--- Half the squared error up to `delta`, a straight line beyond, so that outliers count less.
---@param options HuberOptions?
---@return Loss
function gb.losses.Huber(options) end

--- Of two distributions over the last dimension.
---@param options LossOptions?
---@return Loss
function gb.losses.KLDivergence(options) end

--- log(cosh(predictions - labels)): half the squared error near 0, the absolute error less log(2) far away.
---@param options LossOptions?
---@return Loss
function gb.losses.LogCosh(options) end

--- The mean of |predictions - labels|.
---@param options LossOptions?
---@return Loss
function gb.losses.MeanAbsoluteError(options) end

--- The mean of 100 |predictions - labels| / |labels|.
---@param options LossOptions?
---@return Loss
function gb.losses.MeanAbsolutePercentageError(options) end

--- The mean of (predictions - labels)^2.
---@param options LossOptions?
---@return Loss
function gb.losses.MeanSquaredError(options) end

--- The mean of (log(1 + predictions) - log(1 + labels))^2, of numbers above 0.
---@param options LossOptions?
---@return Loss
function gb.losses.MeanSquaredLogarithmicError(options) end

--- predictions - labels * log(predictions): labels are counts, predictions their expected values.
---@param options LossOptions?
---@return Loss
function gb.losses.Poisson(options) end

--- max(0, 1 - labels * predictions)^2, of labels as Hinge has them.
---@param options LossOptions?
---@return Loss
function gb.losses.SquaredHinge(options) end

--- Dice's loss with weights for what predictions miss and what they have too much.
---@param options TverskyOptions?
---@return Loss
function gb.losses.Tversky(options) end

return gb
