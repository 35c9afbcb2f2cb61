---@meta
-- Training: compile, fit, evaluate, predict; losses, metrics, optimizers, schedules, callbacks; and measuring a training.
-- Names, options and defaults are those of Keras.

---@class Model
local Model = {}

---@alias LossFunction fun(labels: Tensor, predictions: Tensor): Tensor

---@class CompileOptions
---@field optimizer string|Optimizer|nil "rmsprop" unless given
---@field loss string|Loss|LossFunction|(string|Loss|LossFunction)[] one for all outputs, or one each
---@field metrics (string|Metric|LossFunction)[]?
---@field execution string? "graph" unless given, or "eager"
---@field run_eagerly boolean?
---@field passes table<string, boolean>? passes to switch off, such as { fuse_epilogue = false }
---@field input_slots integer? on a GPU: 2 (unless given) lets a batch be copied while the step before it computes, 1 not
---@field pin_inputs boolean? on a GPU: batches are made in page-locked memory, which is copied faster, unless false
---@field auto_scale_loss boolean? a model with a layer of "mixed_float16" trains by a LossScaleOptimizer with its defaults
--- around the optimizer, unless false or the optimizer is one

---@field gradient_accumulation_steps integer? 1 unless given: the parts of every batch that a step computes one after the
--- other, in the memory of one; see below
---@field recompute string[]? names of layers whose activations are not kept for the gradients but computed again
---@field recompute_budget integer? instead: bytes that a training step may take, as model:memory counts them; the layers
--- are then chosen so that little is computed again: planned are keeping every n-th layer, and computing again those with
--- the fewest flops for each byte; of the sets that fit, the one with the fewest flops, less whatever need not be in it.
--- An error where no set is enough
---@field offload boolean|string[]|nil true: activations wait for their gradients in the host's memory; or names of the layers
--- whose activations do
---@field offload_ahead integer? for how many layers such a copy may take while kernels go on; 1 unless given, 0: none

--- Sets how the model is trained. Loss functions of the script are traced, so training runs no Lua.
---
--- With `gradient_accumulation_steps`, every batch is cut into so many equal parts (of a batch that cannot be, it is an
--- error). Their gradients are added up, and one update follows by their mean, as of the whole batch but for rounding:
--- steps, loss, metrics and learning rates mean what they do without. What looks at a batch as a whole sees a part:
--- BatchNormalization normalizes each part by itself and moves its statistics once for each, in order; a loss that gives one
--- number for a batch is the mean of what it gives for the parts.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy", gradient_accumulation_steps = 4 }
--- model:fit(gb.datasets.mnist("train"):batch(128, { drop_remainder = true }), { steps_per_epoch = 2, verbose = 0 })
--- ```
---
--- With `recompute`, activations of some layers live no longer than the forward pass needs them; before a gradient reads
--- them they are computed again from the nearest that were kept, with the same random numbers, so that weights come out
--- the same but for rounding. Worth most where every few layers one is kept: what lies between is alive for one stretch at a time.
---
--- ```lua
--- local gb = require "gpubench"
--- local layers = {}
--- for i = 1, 8 do layers[i] = gb.layers.Dense(64, { activation = "relu", input_shape = i == 1 and { 784 } or nil }) end
--- layers[9] = gb.layers.Dense(10, { activation = "softmax" })
--- local model = gb.Sequential(layers)
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
--- local kept = model:memory(1024)
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy", recompute_budget = kept.total * 3 // 4 }
--- assert(model:memory(1024).total <= kept.total * 3 // 4)
--- ```
---
--- With `offload`, what gradients read again of a layer is copied to the host's memory (page-locked, for GPUs) as soon as
--- it is there, and back before the gradients get to it; in between its place is free for others. On a GPU the copies run
--- beside the kernels: away under the next layer, back under the layer before; `offload_ahead` gives them more layers, for
--- more memory. What would be back before as many bytes were computed as it has stays where it is. Results are the same to
--- the bit. It takes graph execution and a device whose memory is not the host's: a GPU, or a logical CPU device other than
--- cpu:0, where copies take their time before kernels go on. `model:memory` says how much memory of the host it takes.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1, memory_limit = 64 << 20 } })
--- local function build(offload)
---   local layers = {}
---   for i = 1, 8 do layers[i] = gb.layers.Dense(64, { activation = "relu", input_shape = i == 1 and { 784 } or nil }) end
---   layers[9] = gb.layers.Dense(10, { activation = "softmax" })
---   local model = gb.Sequential(layers)
---   model:compile { optimizer = "sgd", loss = "categorical_crossentropy", offload = offload }
---   return model:memory(1024)
--- end
--- gb.device("cpu:1", function()
---   local kept, offloaded = build(false), build(true)
---   assert(offloaded.total < kept.total and offloaded.offloaded > 0 and kept.offloaded == 0)
--- end)
--- ```
---@param options CompileOptions
function Model:compile(options) end

---@class FitOptions
---@field epochs integer? 1 unless given
---@field batch_size integer? of tensors; 32 unless given; gb.AUTOTUNE: the largest that fits, as gb.find_batch_size finds it
---@field shuffle boolean? tensors are shuffled anew in every epoch unless false
---@field validation_data Dataset|table|nil a batched dataset, or { inputs, labels }
---@field validation_split number? share of the rows of tensors, taken from their end
---@field steps_per_epoch integer? an epoch ends with the dataset unless given
---@field initial_epoch integer?
---@field callbacks (Callback|CallbackFunctions|Pruning)[]?
---@field verbose integer|string|nil 0: silent; 1 or "auto": one line, on a terminal only; 2: a line per epoch
---@field resume string? a file: the training is saved in it after every epoch, and goes on from it when it is there
---@field save_steps integer? with resume: saved also after so many steps of an epoch

---@class History
---@field history table<string, number[]> by figure: loss, accuracy, val_loss, ...; where the loss is scaled, skipped_steps
--- since the training began
---@field epoch integer[] numbers of the epochs, from 1

--- Trains by epochs: `model:fit(dataset, options)` or `model:fit(x, y, options)`.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(2, { activation = "softmax", input_shape = { 2 } }) }
--- model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.5 }, loss = "sparse_categorical_crossentropy",
---                 metrics = { "accuracy" } }
--- local x = gb.tensor { { 0, 1 }, { 1, 0 }, { 0, 2 }, { 2, 0 } }
--- local y = gb.tensor({ 0, 1, 0, 1 }, { dtype = "int64" })
--- local history = model:fit(x, y, { epochs = 20, batch_size = 2 })
--- assert(#history.history.loss == 20 and history.history.accuracy[20] == 1)
--- assert(model:evaluate(x, y).accuracy == 1)
--- assert(model:predict(x).shape[2] == 2)
--- ```
---@param data Dataset|Tensor|table
---@param labels Tensor|table|FitOptions|nil
---@param options FitOptions?
---@return History
function Model:fit(data, labels, options) end

---@class BatchOptions
---@field batch_size integer? of tensors; 32 unless given
---@field verbose integer|string|nil evaluate prints its figures unless 0, which it is unless given

--- Loss and metrics over all data, by name.
---@param data Dataset|Tensor|table
---@param labels Tensor|table|nil
---@param options BatchOptions?
---@return table<string, number>
function Model:evaluate(data, labels, options) end

--- The outputs for all data.
---@param data Dataset|Tensor|table
---@param options BatchOptions?
---@return Tensor|Tensor[]
function Model:predict(data, options) end

---@class gpubench
local gb = {}

--- A loss as an object; called, it gives the mean over the batch, for loops written by hand.
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

---@class FromLogits
---@field from_logits boolean? the predictions are not yet softmax or sigmoid; false unless given

gb.losses = {}
---@param options FromLogits?
---@return Loss
function gb.losses.CategoricalCrossentropy(options) end
---@param options FromLogits?
---@return Loss
function gb.losses.SparseCategoricalCrossentropy(options) end
---@param options FromLogits?
---@return Loss
function gb.losses.BinaryCrossentropy(options) end
---@return Loss
function gb.losses.MeanSquaredError() end

--- A metric as an object: for compile, or for loops written by hand.
---@class Metric
---@field name string
local Metric = {}
---@param labels Tensor
---@param predictions Tensor
function Metric:update_state(labels, predictions) end
--- The mean since the last reset; nil before the first update. Waits for the device.
---@return number?
function Metric:result() end
function Metric:reset_state() end

gb.metrics = {}
--- Chooses by the types of labels and predictions.
---@return Metric
function gb.metrics.Accuracy() end
---@return Metric
function gb.metrics.CategoricalAccuracy() end
---@return Metric
function gb.metrics.SparseCategoricalAccuracy() end
---@class BinaryAccuracyOptions
---@field threshold number? 0.5 unless given
---@param options BinaryAccuracyOptions?
---@return Metric
function gb.metrics.BinaryAccuracy(options) end
---@class TopKOptions
---@field k integer? 5 unless given
---@param options TopKOptions?
---@return Metric
function gb.metrics.TopKCategoricalAccuracy(options) end
---@return Metric
function gb.metrics.MeanSquaredError() end
---@return Metric
function gb.metrics.CategoricalCrossentropy() end
---@return Metric
function gb.metrics.SparseCategoricalCrossentropy() end
---@return Metric
function gb.metrics.BinaryCrossentropy() end

--- Turns gradients into updates of variables, all of them by one operation.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
--- local optimizer, loss_fn = gb.optimizers.Adam { learning_rate = 0.1 }, gb.losses.MeanSquaredError()
--- local x, y = gb.tensor { { 1, 0 }, { 0, 1 } }, gb.tensor { { 1 }, { -1 } }
--- local first, last
--- for _ = 1, 50 do
---   local tape <close> = gb.tape()
---   last = loss_fn(y, model(x, { training = true }))
---   first = first or last:item()
---   local gradients = tape:gradient(last, model.trainable_variables)
---   optimizer:apply_gradients(gradients, model.trainable_variables)
--- end
--- assert(last:item() < 0.1 * first and optimizer.iterations == 50)
--- ```
---@class Optimizer
---@field name string
---@field iterations integer updates so far
---@field learning_rate number can be set, unless it follows a schedule
---@field loss_scale number? of a LossScaleOptimizer: the scale of the next step; nil of others
---@field skipped_steps integer? of a LossScaleOptimizer: steps that changed no weight; nil of others
local Optimizer = {}

--- One gradient per variable, in order; `false` where there is none.
---@param gradients (Tensor|false)[]
---@param variables Tensor[]
function Optimizer:apply_gradients(gradients, variables) end

--- What a loop written by hand differentiates with a LossScaleOptimizer: the loss times the scale.
---@param loss Tensor
---@return Tensor
function Optimizer:get_scaled_loss(loss) end

--- float32 gradients of the loss, of those of the scaled loss; `false` stays. apply_gradients then skips the step where one
--- is infinite or not a number.
---@param gradients (Tensor|false)[]
---@return (Tensor|false)[]
function Optimizer:get_unscaled_gradients(gradients) end

---@class SGDOptions
---@field learning_rate number|Schedule|nil 0.01 unless given
---@field momentum number? 0 unless given
---@field nesterov boolean?
---@field weight_decay number? decoupled; 0 unless given

gb.optimizers = {}
---@param options SGDOptions?
---@return Optimizer
function gb.optimizers.SGD(options) end

---@class AdamOptions
---@field learning_rate number|Schedule|nil 0.001 unless given
---@field beta_1 number? 0.9 unless given
---@field beta_2 number? 0.999 unless given
---@field epsilon number? 1e-7 unless given
---@field weight_decay number? decoupled; 0 for Adam and 0.004 for AdamW unless given

---@param options AdamOptions?
---@return Optimizer
function gb.optimizers.Adam(options) end
---@param options AdamOptions?
---@return Optimizer
function gb.optimizers.AdamW(options) end

---@class RMSpropOptions
---@field learning_rate number|Schedule|nil 0.001 unless given
---@field rho number? 0.9 unless given
---@field momentum number? 0 unless given
---@field epsilon number? 1e-7 unless given
---@field centered boolean?

---@param options RMSpropOptions?
---@return Optimizer
function gb.optimizers.RMSprop(options) end

---@class LossScaleOptions
---@field initial_scale number? 2^15 unless given; from 1
---@field dynamic_growth_steps integer? good steps in a row after which the scale doubles; 2000 unless given
---@field dynamic boolean? false keeps the initial scale; true unless given

--- Wraps an optimizer for training in float16, whose small gradients vanish: the loss is multiplied by a scale before it is
--- differentiated, the gradients are divided by it before they are used. Where one of them is infinite or not a number, the
--- step is skipped, weights, optimizer state and `iterations` stay as they are, and the scale is halved (down to 1). All
--- this happens on the device. `learning_rate` and `iterations` are those of the inner optimizer.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 }, dtype = "mixed_float16" }) }
--- local optimizer = gb.optimizers.LossScaleOptimizer(gb.optimizers.SGD { learning_rate = 0.1 }, { initial_scale = 1024 })
--- local loss_fn = gb.losses.MeanSquaredError()
--- local x, y = gb.tensor { { 1, 0 }, { 0, 1 } }, gb.tensor { { 1 }, { -1 } }
--- local loss
--- for _ = 1, 50 do
---   local tape <close> = gb.tape()
---   loss = loss_fn(y, model(x, { training = true }))
---   local gradients = tape:gradient(optimizer:get_scaled_loss(loss), model.trainable_variables)
---   optimizer:apply_gradients(optimizer:get_unscaled_gradients(gradients), model.trainable_variables)
--- end
--- assert(loss:item() < 0.1 and optimizer.loss_scale == 1024 and optimizer.skipped_steps == 0)
--- ```
---@param inner_optimizer string|Optimizer
---@param options LossScaleOptions?
---@return Optimizer
function gb.optimizers.LossScaleOptimizer(inner_optimizer, options) end

--- A learning rate that follows the step counter.
---@class Schedule
local Schedule = {}

gb.schedules = {}

---@class CosineDecayOptions
---@field alpha number? share of the first rate that is left at the end; 0 unless given

---@param initial_learning_rate number
---@param decay_steps integer
---@param options CosineDecayOptions?
---@return Schedule
function gb.schedules.CosineDecay(initial_learning_rate, decay_steps, options) end

---@class ExponentialDecayOptions
---@field staircase boolean? the exponent is rounded down

---@param initial_learning_rate number
---@param decay_steps integer
---@param decay_rate number
---@param options ExponentialDecayOptions?
---@return Schedule
function gb.schedules.ExponentialDecay(initial_learning_rate, decay_steps, decay_rate, options) end

--- What fit calls around epochs and batches. A table of functions does the same.
---@class Callback
local Callback = {}

--- Epochs and batches count from 1; logs are figures by name. on_batch_end waits for the device after every batch.
---@class CallbackFunctions
---@field on_train_begin fun()?
---@field on_epoch_begin fun(epoch: integer)?
---@field on_batch_end fun(batch: integer, logs: table<string, number>)?
---@field on_epoch_end (fun(epoch: integer, logs: table<string, number>): boolean?)? returning false ends the training
---@field on_train_end fun()?

gb.callbacks = {}

---@class EarlyStoppingOptions
---@field monitor string? "val_loss" unless given
---@field min_delta number? 0 unless given
---@field patience integer? epochs without improvement; 0 unless given
---@field mode string? "auto", "min" or "max"
---@field restore_best_weights boolean?
---@field start_from_epoch integer?

---@param options EarlyStoppingOptions?
---@return Callback
function gb.callbacks.EarlyStopping(options) end

---@class ModelCheckpointOptions
---@field monitor string? "val_loss" unless given
---@field save_best_only boolean?
---@field mode string? "auto", "min" or "max"

--- Saves the model after every epoch; "{epoch}" and "{val_loss}" in `path` are filled in.
---@param path string
---@param options ModelCheckpointOptions?
---@return Callback
function gb.callbacks.ModelCheckpoint(path, options) end

---@param fn fun(epoch: integer, rate: number): number
---@return Callback
function gb.callbacks.LearningRateScheduler(fn) end

---@class CSVLoggerOptions
---@field separator string? "," unless given
---@field append boolean?

---@param path string
---@param options CSVLoggerOptions?
---@return Callback
function gb.callbacks.CSVLogger(path, options) end

gb.measure = {}

---@class MeasureTrainingOptions
---@field budget number? seconds of measuring; --budget unless given
---@field min_time number? seconds to measure at least, no more than the budget; 0.3 (or a shorter budget) unless given
---@field warmup number? seconds of warming up at most; 0.5 unless given
---@field relative_error number? wanted half-width of the median's interval, as a share; 0.01 unless given
---@field trace boolean? on GPUs a few more steps are traced after the timing, which fills the shares and device_busy;
--- true writes trace-<point>.json for chrome://tracing or Perfetto into the run's folder too, false leaves it all out

---@class MeasureResidentOptions: MeasureTrainingOptions
---@field resident boolean? the first two batches stay on the device and all steps train on them: what a step takes without its input

--- Steps through the dataset again and again: warms up until step times settle, then measures until they are known
--- precisely enough or the budget is spent. Returns the standard columns and `samples`, every step time in seconds. Where
--- buffers that were filled before would distort the rate, measuring begins and ends with an epoch, for up to twice the
--- budget, and `quality` is unreliable where none fits.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy", metrics = { "accuracy" } }
--- local input = gb.datasets.mnist("train"):batch(32)
--- local row = gb.measure.training(model, input, { budget = 0.1 })
--- assert(row.examples_per_s > 0 and row.batch_size == 32 and #row.samples == row.steps)
--- ```
---@param model Model
---@param dataset Dataset
---@param options MeasureResidentOptions?
---@return table
function gb.measure.training(model, dataset, options) end

return gb
