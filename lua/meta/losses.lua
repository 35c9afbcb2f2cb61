---@meta
-- Losses and metrics. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

--- A loss as an object; called, it gives one number for the batch, for loops written by hand.
---
--- ```lua
--- local gb = require "gpubench"
--- local loss = gb.losses.MeanSquaredError()
--- assert(loss(gb.tensor { 1, 2 }, gb.tensor { 1, 4 }):item() == 2)
--- ```
---@class Loss
---@field name string
---@overload fun(labels: Tensor, predictions: Tensor, inputs: Tensor|Tensor[]|nil): Tensor
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

---@class HuberOptions: LossOptions
---@field delta number? error above which the loss is a straight line; 1 unless given

---@class gpubench.losses
gb.losses = {}
---@param options SmoothedOptions?
---@return Loss
function gb.losses.CategoricalCrossentropy(options) end
--- Predictions [batch, ..., classes], labels [batch, ...].
---@param options FromLogits?
---@return Loss
function gb.losses.SparseCategoricalCrossentropy(options) end
---@param options SmoothedOptions?
---@return Loss
function gb.losses.BinaryCrossentropy(options) end
--- Minus the cosine of the angle between labels and predictions, over the last dimension.
---@param options LossOptions?
---@return Loss
function gb.losses.CosineSimilarity(options) end
---@param options HuberOptions?
---@return Loss
function gb.losses.Huber(options) end
--- Of two distributions over the last dimension.
---@param options LossOptions?
---@return Loss
function gb.losses.KLDivergence(options) end
---@param options LossOptions?
---@return Loss
function gb.losses.MeanAbsoluteError(options) end
---@param options LossOptions?
---@return Loss
function gb.losses.MeanSquaredError(options) end

--- A metric as an object: for compile, or for loops written by hand.
---@class Metric
---@field name string
local Metric = {}
---@param labels Tensor
---@param predictions Tensor? left out for a Mean, which takes values
function Metric:update_state(labels, predictions) end
--- The figure since the last reset; nil before the first update. Waits for the device.
---@return number?
function Metric:result() end
function Metric:reset_state() end

---@class gpubench.metrics
gb.metrics = {}
--- Chooses by the types of labels and predictions, as "accuracy" does in compile. It does not compare class indices
--- with each other, as Keras' class of this name does; that is labels:eq(indices):cast("float32"):mean().
---@return Metric
function gb.metrics.Accuracy() end
---@return Metric
function gb.metrics.CategoricalAccuracy() end
---@return Metric
function gb.metrics.SparseCategoricalAccuracy() end
---@class BinaryAccuracyOptions
---@field threshold number? 0.5 unless given: of predictions, and of labels too, where Keras takes a label that is
--- neither 0 nor 1 for wrong
---@param options BinaryAccuracyOptions?
---@return Metric
function gb.metrics.BinaryAccuracy(options) end
---@class TopKOptions
---@field k integer? 5 unless given. Of classes that tie, the first count; Keras counts all
---@param options TopKOptions?
---@return Metric
function gb.metrics.TopKCategoricalAccuracy(options) end
---@param options TopKOptions?
---@return Metric
function gb.metrics.SparseTopKCategoricalAccuracy(options) end

---@class AUCOptions
---@field num_thresholds integer? 200 unless given
---@field curve string? "ROC" unless given, or "PR": precision over recall

--- The area under the curve of predictions from 0 to 1, from counts at thresholds.
---
--- ```lua
--- local gb = require "gpubench"
--- local auc = gb.metrics.AUC()
--- auc:update_state(gb.tensor { 0, 0, 1, 1 }, gb.tensor { 0.1, 0.6, 0.4, 0.9 })
--- assert(math.abs(auc:result() - 0.75) < 1e-6)
--- ```
---@param options AUCOptions?
---@return Metric
function gb.metrics.AUC(options) end

---@class PositivesOptions
---@field thresholds number? a prediction above it is positive; 0.5 unless given
---@field class_id integer? the only class that counts, from 0; all unless given

--- True positives among positive predictions; 0 if there are none.
---@param options PositivesOptions?
---@return Metric
function gb.metrics.Precision(options) end
--- True positives among positive labels; 0 if there are none.
---@param options PositivesOptions?
---@return Metric
function gb.metrics.Recall(options) end

---@class F1ScoreOptions
---@field average string? "macro" unless given, "micro" or "weighted". Keras' default, a number for each class, is no
--- figure of a history
---@field threshold number? a prediction above it is positive; unless given, the largest of each example

---@param options F1ScoreOptions?
---@return Metric
function gb.metrics.F1Score(options) end
--- The mean of numbers, for loops written by hand: `mean:update_state(values)`.
---
--- ```lua
--- local gb = require "gpubench"
--- local mean = gb.metrics.Mean()
--- mean:update_state(gb.tensor { 1, 2 })
--- mean:update_state(6)
--- assert(mean:result() == 3)
--- ```
---@return Metric
function gb.metrics.Mean() end
--- The mean cosine of the angle between labels and predictions, which the loss of this name has with a minus.
---@return Metric
function gb.metrics.CosineSimilarity() end
---@return Metric
function gb.metrics.KLDivergence() end
---@return Metric
function gb.metrics.MeanAbsoluteError() end
---@return Metric
function gb.metrics.RootMeanSquaredError() end
---@return Metric
function gb.metrics.MeanSquaredError() end
---@return Metric
function gb.metrics.CategoricalCrossentropy() end
---@return Metric
function gb.metrics.SparseCategoricalCrossentropy() end
---@return Metric
function gb.metrics.BinaryCrossentropy() end

return gb
