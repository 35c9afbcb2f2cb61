---@meta
-- Metrics. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

--- A metric as an object: for compile, or for loops written by hand.
---@class Metric
---@field name string of the figure in histories, such as "accuracy"
local Metric = {}

--- Adds the figures of a batch.
---@param labels Tensor
---@param predictions Tensor? left out for a Mean, which takes values
---@param sample_weight Tensor? weights of the examples, [batch] or [batch, steps]; all alike unless given
function Metric:update_state(labels, predictions, sample_weight) end

--- The figure since the last reset, or a list of them for several thresholds or classes; nil before the first update.
--- In a history they are "precision[1]", "precision[2]", and so on. Waits for the device.
---@return number|number[]|nil
function Metric:result() end

--- Forgets all batches, as at the beginning of an epoch.
function Metric:reset_state() end

--- Metrics, for compile and for loops written by hand. Options may stand without their names in Keras' order, in front
--- of a table of others: gb.metrics.AUC(100, "PR"). Where Keras has a name and a dtype in front of an option, nil keeps
--- their places.
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
---@field summation_method string? "interpolation" unless given; "majoring" and "minoring" bound the area from above and
--- from below
---@field thresholds number[]? from 0 to 1, in place of num_thresholds, which are evenly spaced; none unless given
---@field multi_label boolean? the mean of the areas of all labels, for predictions [batch, labels]; false unless given,
--- where all are counted together
---@field num_labels integer? checked with multi_label; any number unless given
---@field label_weights number[]? weights of the labels in that mean, or of their counts; all alike unless given
---@field from_logits boolean? predictions are not yet sigmoid; false unless given

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

---@class ThresholdsOptions
---@field thresholds number|number[]|nil a prediction above it is positive; 0.5 unless given. A list gives one result
--- for each

---@class PositivesOptions: ThresholdsOptions
---@field top_k integer? positive are the largest predictions of each row, above `thresholds` if these are given too;
--- all unless given
---@field class_id integer? the only class that counts, from 0; all unless given

--- Positive predictions of positive labels, counted.
---@param options ThresholdsOptions?
---@return Metric
function gb.metrics.TruePositives(options) end

--- Other predictions of negative labels, counted.
---@param options ThresholdsOptions?
---@return Metric
function gb.metrics.TrueNegatives(options) end

--- Positive predictions of negative labels, counted.
---@param options ThresholdsOptions?
---@return Metric
function gb.metrics.FalsePositives(options) end

--- Other predictions of positive labels, counted.
---@param options ThresholdsOptions?
---@return Metric
function gb.metrics.FalseNegatives(options) end

--- True positives among positive predictions; 0 if there are none.
---
--- ```lua
--- local gb = require "gpubench"
--- local precision = gb.metrics.Precision { thresholds = { 0.3, 0.7 } }
--- precision:update_state(gb.tensor { 0, 1, 1 }, gb.tensor { 0.5, 0.4, 0.9 })
--- local result = precision:result()
--- assert(math.abs(result[1] - 2 / 3) < 1e-6 and result[2] == 1)
--- ```
---@param options PositivesOptions?
---@return Metric
function gb.metrics.Precision(options) end

--- True positives among positive labels; 0 if there are none.
---@param options PositivesOptions?
---@return Metric
function gb.metrics.Recall(options) end

---@class F1ScoreOptions
---@field average string? "macro" unless given, "micro", "weighted", or "none": a number for each class, which is Keras'
--- default
---@field threshold number? a prediction above it is positive; unless given, the largest of each example

--- The harmonic mean of precision and recall, averaged over the classes; labels are one-hot.
---@param options F1ScoreOptions?
---@return Metric
function gb.metrics.F1Score(options) end

---@class IoUOptions
---@field ignore_class integer? a label of places that do not count, such as 255; none unless given
---@field sparse_y_true boolean? labels are class indices, false: by class, such as one-hot; true unless given
---@field sparse_y_pred boolean? predictions are class indices, false: numbers by class, the largest of which holds;
--- true unless given
---@field axis integer? the dimension of the classes; -1 unless given

---@class OneHotIoUOptions
---@field ignore_class integer? a label of places that do not count, such as 255; none unless given
---@field sparse_y_pred boolean? predictions are class indices, false: numbers by class; false unless given
---@field axis integer? the dimension of the classes; -1 unless given

--- Of some classes, the mean of the places that are of the class and predicted to be, among those that are either. As
--- in Keras, a place counts only where label and prediction are one of the classes. Weights count as they are; Keras
--- rounds them down.
---@param num_classes integer
---@param target_class_ids integer[] the classes, from 0
---@param options IoUOptions?
---@return Metric
function gb.metrics.IoU(num_classes, target_class_ids, options) end

--- The same of all classes that labels or predictions have.
---
--- ```lua
--- local gb = require "gpubench"
--- local iou = gb.metrics.MeanIoU(2, { sparse_y_pred = false })
--- local predictions = gb.tensor { { 0.9, 0.1 }, { 0.2, 0.8 }, { 0.6, 0.4 } }
--- iou:update_state(gb.tensor({ 0, 1, 1 }, { dtype = "int64" }), predictions)
--- assert(math.abs(iou:result() - 0.5) < 1e-6)
--- ```
---@param num_classes integer
---@param options IoUOptions?
---@return Metric
function gb.metrics.MeanIoU(num_classes, options) end

--- IoU of one-hot labels and predictions by class.
---@param num_classes integer
---@param target_class_ids integer[] the classes, from 0
---@param options OneHotIoUOptions?
---@return Metric
function gb.metrics.OneHotIoU(num_classes, target_class_ids, options) end

--- MeanIoU of one-hot labels and predictions by class.
---@param num_classes integer
---@param options OneHotIoUOptions?
---@return Metric
function gb.metrics.OneHotMeanIoU(num_classes, options) end

---@class BinaryIoUOptions
---@field target_class_ids integer[]? { 0 }, { 1 } or both; { 0, 1 } unless given
---@field threshold number? predictions from it on are of class 1; 0.5 unless given

--- IoU of two classes, by a threshold.
---@param options BinaryIoUOptions?
---@return Metric
function gb.metrics.BinaryIoU(options) end

---@class R2ScoreOptions
---@field class_aggregation string? of the columns: "uniform_average" unless given, "variance_weighted_average", or
--- "none": a number for each
---@field num_regressors integer? of the adjusted score, where there are more labels than these and one; 0 unless given

--- 1 - squared errors / variance of the labels, of predictions [batch, numbers].
---@param options R2ScoreOptions?
---@return Metric
function gb.metrics.R2Score(options) end

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

---@class CosineMetricOptions
---@field axis integer? the dimension of the vectors, not the batch's; -1 unless given

--- The mean cosine of the angle between labels and predictions, which the loss of this name has with a minus.
---@param options CosineMetricOptions?
---@return Metric
function gb.metrics.CosineSimilarity(options) end

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

---@class LogitsMetricOptions
---@field from_logits boolean? predictions are not yet softmax or sigmoid; false unless given

---@class SmoothedMetricOptions: LogitsMetricOptions
---@field label_smoothing number? share by which labels move towards all classes alike; 0 unless given

--- The mean of the loss of this name: one-hot labels.
---@param options SmoothedMetricOptions?
---@return Metric
function gb.metrics.CategoricalCrossentropy(options) end

--- The mean of the loss of this name: class indices.
---@param options LogitsMetricOptions?
---@return Metric
function gb.metrics.SparseCategoricalCrossentropy(options) end

--- The mean of the loss of this name: labels 0 or 1.
---@param options SmoothedMetricOptions?
---@return Metric
function gb.metrics.BinaryCrossentropy(options) end

--- The mean of the loss of this name.
---@return Metric
function gb.metrics.CategoricalHinge() end

--- The mean of the loss of this name.
---@return Metric
function gb.metrics.Hinge() end

--- The mean of the loss LogCosh; "logcosh" in histories.
---@return Metric
function gb.metrics.LogCoshError() end

--- The mean of the loss of this name.
---@return Metric
function gb.metrics.MeanAbsolutePercentageError() end

--- The mean of the loss of this name.
---@return Metric
function gb.metrics.MeanSquaredLogarithmicError() end

--- The mean of the loss of this name.
---@return Metric
function gb.metrics.Poisson() end

--- The mean of the loss of this name.
---@return Metric
function gb.metrics.SquaredHinge() end

return gb
