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
---@field name string such as "mean_squared_error"
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

--- Losses, for compile and for loops written by hand.
---@class gpubench.losses
gb.losses = {}

--- Cross-entropy of classes: labels [batch, ..., classes], one-hot or shares that add up to 1, and predictions of that
--- shape.
---@param options SmoothedOptions?
---@return Loss
function gb.losses.CategoricalCrossentropy(options) end

--- Predictions [batch, ..., classes], labels [batch, ...].
---@param options FromLogits?
---@return Loss
function gb.losses.SparseCategoricalCrossentropy(options) end

--- Cross-entropy of two classes: labels 0 or 1 and predictions from 0 to 1 (logits with `from_logits`), of one shape.
---@param options SmoothedOptions?
---@return Loss
function gb.losses.BinaryCrossentropy(options) end

--- Minus the cosine of the angle between labels and predictions, over the last dimension.
---@param options LossOptions?
---@return Loss
function gb.losses.CosineSimilarity(options) end

--- Half the squared error up to `delta`, a straight line beyond, so that outliers count less.
---@param options HuberOptions?
---@return Loss
function gb.losses.Huber(options) end

--- Of two distributions over the last dimension.
---@param options LossOptions?
---@return Loss
function gb.losses.KLDivergence(options) end

--- The mean of |predictions - labels|.
---@param options LossOptions?
---@return Loss
function gb.losses.MeanAbsoluteError(options) end

--- The mean of (predictions - labels)^2.
---@param options LossOptions?
---@return Loss
function gb.losses.MeanSquaredError(options) end

--- A metric as an object: for compile, or for loops written by hand.
---@class Metric
---@field name string of the figure in histories, such as "accuracy"
local Metric = {}

--- Adds the figures of a batch.
---@param labels Tensor
---@param predictions Tensor? left out for a Mean, which takes values
function Metric:update_state(labels, predictions) end

--- The figure since the last reset; nil before the first update. Waits for the device.
---@return number?
function Metric:result() end

--- Forgets all batches, as at the beginning of an epoch.
function Metric:reset_state() end

--- Metrics, for compile and for loops written by hand.
---@class gpubench.metrics
gb.metrics = {}

--- Chooses by the types of labels and predictions, as "accuracy" does in compile. It does not compare class indices
--- with each other, as Keras' class of this name does; that is labels:eq(indices):cast("float32"):mean().
---@return Metric
function gb.metrics.Accuracy() end

--- Share of examples whose largest prediction is at the 1 of their one-hot label.
---@return Metric
function gb.metrics.CategoricalAccuracy() end

--- Share of examples whose largest prediction is at the class that the label, an index from 0, names.
---@return Metric
function gb.metrics.SparseCategoricalAccuracy() end

---@class BinaryAccuracyOptions
---@field threshold number? 0.5 unless given: of predictions, and of labels too, where Keras takes a label that is
--- neither 0 nor 1 for wrong

--- Share of predictions that are on the same side of the threshold as their label.
---@param options BinaryAccuracyOptions?
---@return Metric
function gb.metrics.BinaryAccuracy(options) end

---@class TopKOptions
---@field k integer? 5 unless given. Of classes that tie, the first count; Keras counts all

--- Share of examples whose class is among the `k` largest predictions; labels are one-hot or class indices.
---@param options TopKOptions?
---@return Metric
function gb.metrics.TopKCategoricalAccuracy(options) end

--- The same as TopKCategoricalAccuracy, under Keras' name for labels that are class indices.
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

--- The harmonic mean of precision and recall, averaged over the classes; labels are one-hot.
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

--- The mean Kullback-Leibler divergence of predictions from labels, as the loss of this name with its defaults.
---@return Metric
function gb.metrics.KLDivergence() end

--- The mean of |predictions - labels|.
---@return Metric
function gb.metrics.MeanAbsoluteError() end

--- The root of the mean of (predictions - labels)^2, in the unit of the labels.
---@return Metric
function gb.metrics.RootMeanSquaredError() end

--- The mean of (predictions - labels)^2.
---@return Metric
function gb.metrics.MeanSquaredError() end

--- The mean of the loss of this name with its defaults: one-hot labels and probabilities.
---@return Metric
function gb.metrics.CategoricalCrossentropy() end

--- The mean of the loss of this name with its defaults: class indices and probabilities.
---@return Metric
function gb.metrics.SparseCategoricalCrossentropy() end

--- The mean of the loss of this name with its defaults: labels 0 or 1 and probabilities.
---@return Metric
function gb.metrics.BinaryCrossentropy() end

return gb
