---@meta
-- Training: compile, fit, evaluate, predict; callbacks. Losses are in losses.lua, metrics in metrics.lua.
-- Names, options and defaults are those of Keras.

---@class Model
---@field optimizer Optimizer? the one that compile was given or made; nil before
---@field train_step (fun(self: Model, ...: Tensor): table<string, Tensor|Metric>)? the script's own step of training,
--- which can be set: see Model:compute_loss; nil: the step that compile describes
---@field test_step (fun(self: Model, ...: Tensor): table<string, Tensor|Metric>)? the same for evaluate and fit's
--- validation
local Model = {}

--- A loss or a metric of the script: one value per example, or one number for the batch.
---@alias LossFunction fun(labels: Tensor, predictions: Tensor): Tensor

---@class CompileOptions
---@field optimizer string|Optimizer|nil "rmsprop" unless given
---@field loss string|Loss|LossFunction|(string|Loss|LossFunction)[]|table<string, string|Loss|LossFunction>|nil one for
--- all outputs, or one each: a list in their order, or a table by the outputs' names: those that gb.Model was given, or
--- of the layers that give them. A table names each of them (Keras: also some of a dictionary's outputs).
--- Only a model with a train_step may go without
---@field loss_weights number[]|table<string, number>|nil factors of the outputs' losses in their sum, one for each
--- output or by names of outputs; figures of single outputs leave them out; 1 each unless given
---@field metrics (string|Metric|LossFunction)[]|any[]|table<string, any>|nil a list of the only output's; for several
--- outputs a list with a metric or a list for each, or a table by their names; none unless given
---@field weighted_metrics (string|Metric|LossFunction)[]|table<string, any>|nil as `metrics`, but the mean weighs
--- examples by sample_weight and class_weight, as the loss does. "weighted_accuracy" beside "accuracy" of the same
--- output. Metrics that count (AUC, Precision, Recall, F1Score) take no weights; none unless given
---@field execution string? "graph" unless given, or "eager"
---@field run_eagerly boolean? true is Keras' way to say `execution = "eager"`; false unless given
---@field passes table<string, boolean>? passes to switch off, such as { fuse_epilogue = false }; a wrong name gets the
--- list of all; all are on unless given
---@field input_slots integer? on a GPU: 2 (unless given) lets a batch be copied while the step before it computes, 1
--- not
---@field pin_inputs boolean? on a GPU: batches are made in page-locked memory, which is copied faster, unless false
---@field auto_scale_loss boolean? a model with a layer of "mixed_float16" trains by a LossScaleOptimizer with its
--- defaults around the optimizer, unless false or the optimizer is one
---@field gradient_accumulation_steps integer? 1 unless given: the parts of every batch that a step computes one after
--- the other, in the memory of one; see below
---@field recompute string[]? names of layers whose activations are not kept for the gradients but computed again; none
--- unless given
---@field recompute_budget integer? instead: bytes that a training step may take, as model:memory counts them; the
--- layers are then chosen so that little is computed again: planned are keeping every n-th layer, and computing again
--- those with the fewest flops for each byte; of the sets that fit, the one with the fewest flops, less whatever need
--- not be in it. An error where no set is enough; none unless given
---@field offload boolean|string[]|nil true: activations wait for their gradients in the host's memory; or names of the
--- layers whose activations do; false unless given
---@field offload_ahead integer? for how many layers such a copy may take while kernels go on; 1 unless given, 0: none

--- Sets how the model is trained. Loss functions of the script are traced, so training runs no Lua.
---
--- With `gradient_accumulation_steps`, every batch is cut into so many equal parts (of a batch that cannot be, it is an
--- error). Their gradients are added up, and one update follows by their mean, as of the whole batch but for rounding:
--- steps, loss, metrics and learning rates mean what they do without. What looks at a batch as a whole sees a part:
--- BatchNormalization normalizes each part by itself and moves its statistics once for each, in order; a loss that
--- gives one number for a batch is the mean of what it gives for the parts. Dropout draws for each example what it
--- draws for it in the whole batch.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy", gradient_accumulation_steps = 4 }
--- model:fit(gb.datasets.mnist("train"):batch(128, { drop_remainder = true }), { steps_per_epoch = 2, verbose = 0 })
--- ```
---
--- With `recompute`, activations of some layers live no longer than the forward pass needs them; before a gradient
--- reads them they are computed again from the nearest that were kept, with the same random numbers, so that weights
--- come out the same but for rounding. Worth most where every few layers one is kept: what lies between is alive for
--- one stretch at a time.
---
--- ```lua
--- local gb = require "gpubench"
--- local layers = {}
--- for i = 1, 8 do
---   layers[i] = gb.layers.Dense(64, { activation = "relu", input_shape = i == 1 and { 784 } or nil })
--- end
--- layers[9] = gb.layers.Dense(10, { activation = "softmax" })
--- local model = gb.Sequential(layers)
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
--- local kept = model:memory(1024)
--- model:compile { optimizer = "sgd", loss = "categorical_crossentropy", recompute_budget = kept.total * 3 // 4 }
--- assert(model:memory(1024).total <= kept.total * 3 // 4)
--- ```
---
--- With `offload`, what gradients read again of a layer is copied to the host's memory (page-locked, for GPUs) as soon
--- as it is there, and back before the gradients get to it; in between its place is free for others. On a GPU the
--- copies run beside the kernels: away under the next layer, back under the layer before; `offload_ahead` gives them
--- more layers, for more memory. What would be back before as many bytes were computed as it has stays where it is.
--- Results are the same to the bit. It takes graph execution and a device whose memory is not the host's: a GPU, or a
--- logical CPU device other than cpu:0, where copies take their time before kernels go on. `model:memory` says how much
--- memory of the host it takes.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1, memory_limit = 64 << 20 } })
--- local function build(offload)
---   local layers = {}
---   for i = 1, 8 do
---     layers[i] = gb.layers.Dense(64, { activation = "relu", input_shape = i == 1 and { 784 } or nil })
---   end
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
---@field batch_size integer? of tensors; 32 unless given; gb.AUTOTUNE: the largest that fits, as gb.find_batch_size
--- finds it
---@field shuffle boolean? tensors are shuffled anew in every epoch unless false
---@field validation_data Dataset|table|nil a batched dataset, or { inputs, labels[, weights] }; none unless given
---@field validation_split number? share of the rows of tensors, taken from their end; 0 unless given
---@field validation_steps integer? the first batches alone of validation_data, each time; all unless given
---@field validation_batch_size integer? of tensors that are validated with; batch_size unless given
---@field validation_freq integer|integer[]|nil validates after each so many epochs, or after these epochs, from 1; 1
--- unless given. Callbacks that monitor a figure of the validation leave other epochs out
---@field sample_weight Tensor|table|nil factors of the examples in the loss, one for each example; a list of tensors,
--- or a table by names: one for each output. The elements of a dataset may have them behind the labels; 1 each unless
--- given
---@field class_weight table<integer, number>? factors of the examples by their class, from 0, in the loss of a model
--- with one output. Multiplied by those of sample_weight, where Keras takes one of the two;
--- 1 each unless given
---@field steps_per_epoch integer? an epoch ends with the dataset unless given; where the dataset ends before, it begins
--- anew (Keras ends the training). Each epoch begins with the dataset's begin (Keras goes on where the epoch before
--- ended: dataset:repeated() does that here)
---@field initial_epoch integer? epochs that are taken as done, so that training goes on behind them; 0 unless given
---@field callbacks (Callback|CallbackFunctions|Pruning)[]? called around epochs and batches, in this order; none unless
--- given
---@field verbose integer|string|nil 0: silent; 1 or "auto": one line, on a terminal only; 2: a line per epoch; "auto"
--- unless given
---@field resume string? a file: the training is saved in it after every epoch, and goes on from it when it is there (a
--- copy named by --restart-from counts instead, under any number of processes); nothing is saved unless given
---@field save_steps integer? with resume: saved also after so many steps of an epoch; only after epochs unless given

--- What Model:fit returns: the figures of every epoch.
---@class History
---@field history table<string, number[]> by figure: loss, accuracy, val_loss, ...; with several outputs also
--- <output>_loss, and metrics as <output>_accuracy; where the loss is scaled, skipped_steps
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
---@param data Dataset|Tensor|table a dataset of batches, or a tensor; of several inputs a list, or a table by names
---@param labels Tensor|table|FitOptions|nil for tensors, the labels; a dataset has them in its elements
---@param options FitOptions?
---@return History
function Model:fit(data, labels, options) end

---@class EvaluateOptions
---@field batch_size integer? of tensors; 32 unless given
---@field sample_weight Tensor|table|nil for evaluate: factors of the examples in the loss; 1 each unless given
---@field steps integer? the first batches alone; all unless given. A warning where the data have fewer
---@field callbacks (Callback|CallbackFunctions)[]? whose on_test_... or on_predict_... are called; none unless given
---@field verbose integer|string|nil evaluate prints its figures unless 0, which it is unless given

--- Loss and metrics over all data, by name.
---@param data Dataset|Tensor|table
---@param labels Tensor|table|nil for tensors, the labels; a dataset has them in its elements
---@param options EvaluateOptions?
---@return table<string, number>
function Model:evaluate(data, labels, options) end

--- The outputs for all data: of several a list, or a table by the names that gb.Model was given.
---@param data Dataset|Tensor|table
---@param options EvaluateOptions?
---@return Tensor|Tensor[]|table<string, Tensor>
function Model:predict(data, options) end

--- One training step on these tensors; returns its figures by name, with the loss before the update.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
--- model:compile { optimizer = "sgd", loss = "mse" }
--- for step = 1, 3 do assert(model:train_on_batch(gb.ones { 4, 2 }, gb.zeros { 4, 1 }).loss >= 0) end
--- ```
---@param x Tensor|table
---@param y Tensor|table
---@return table<string, number>
function Model:train_on_batch(x, y) end

--- Loss and metrics of these tensors, by name.
---@param x Tensor|table
---@param y Tensor|table
---@return table<string, number>
function Model:test_on_batch(x, y) end

--- The outputs for these tensors, as one batch.
---@param x Tensor|table
---@return Tensor|Tensor[]|table<string, Tensor>
function Model:predict_on_batch(x) end

--- The number that compile's losses give for a batch, with what layers added in the latest call (add_loss) and the
--- penalties of regularizers: for a train_step. Where compile made a LossScaleOptimizer, as for mixed_float16, the step
--- differentiates self.optimizer:get_scaled_loss(loss) and applies self.optimizer:get_unscaled_gradients(gradients).
---
--- `function model:train_step(x, y)` replaces what fit does for a batch, as a subclass of Keras' Model does. It gets
--- the tensors of an element in their order, and is traced once for each type of batch: a step runs no Lua. It returns
--- its figures by name, which go into the history: a number shows the latest step, as in Keras; a metric of gb.metrics
--- is returned itself (not its result), counts since the epoch began, and is reset by fit. test_step is the same for
--- evaluate and validation. Options that change compile's own step are errors with a train_step:
--- gradient_accumulation_steps, recompute, recompute_budget, class_weight; and fit's resume.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
--- local mean = gb.metrics.Mean()
--- function model:train_step(x, y)
---   local tape <close> = gb.tape()
---   local loss = self:compute_loss(x, y, self(x, { training = true }))
---   self.optimizer:apply_gradients(tape:gradient(loss, self.trainable_variables), self.trainable_variables)
---   mean:update_state(loss)
---   return { loss = mean, latest = loss }
--- end
--- model:compile { optimizer = "adam", loss = "mse" }
--- local history = model:fit(gb.ones { 8, 2 }, gb.zeros { 8, 1 }, { batch_size = 4, epochs = 2, verbose = 0 }).history
--- assert(#history.loss == 2 and history.latest[2] < history.latest[1])
--- ```
---@param x Tensor|Tensor[]|table<string, Tensor>|nil the inputs, which only losses that read them need
---@param y Tensor|Tensor[]|table<string, Tensor> the labels, one for each output
---@param y_pred Tensor|Tensor[]|table<string, Tensor> the outputs
---@param sample_weight Tensor|Tensor[]|table<string, Tensor>|nil factors of the examples; 1 each unless given
---@return Tensor
function Model:compute_loss(x, y, y_pred, sample_weight) end

---@class gpubench
local gb = {}

--- What fit calls around epochs and batches. A table of functions does the same.
---@class Callback
local Callback = {}

--- Epochs and batches count from 1; logs are figures by name. A function of batches costs the host one call of Lua
--- each, about 0.1 us; on_batch_end with a second parameter also reads the figures, about 0.6 us and on a GPU the wait
--- for all its work, so that the host cannot prepare the next batch meanwhile (the finding host_bound).
--- `function(batch)` does not. Keras' names on_train_batch_begin and on_train_batch_end do the same.
---@class CallbackFunctions
---@field on_train_begin fun()? before the first epoch
---@field on_epoch_begin fun(epoch: integer)? before each epoch
---@field on_batch_begin (fun(batch: integer): boolean?)? may be called once more at the end of a dataset of unknown
--- size
---@field on_batch_end (fun(batch: integer, logs: table<string, number>): boolean?)? returning false ends the training
---@field on_train_batch_begin (fun(batch: integer): boolean?)? Keras' name for on_batch_begin
---@field on_train_batch_end (fun(batch: integer, logs: table<string, number>): boolean?)? Keras' name for on_batch_end
---@field on_epoch_end (fun(epoch: integer, logs: table<string, number>): boolean?)? returning false ends the training
---@field on_train_end fun()? after the last epoch
---@field on_test_begin fun()? before each evaluation: evaluate with these callbacks, and fit's validation
---@field on_test_batch_begin fun(batch: integer)? before each of its batches; may be called once more at the end of a
--- dataset of unknown size
---@field on_test_batch_end (fun(batch: integer, logs: table<string, number>): boolean?)? returning false ends the
--- evaluation
---@field on_test_end fun(logs: table<string, number>)? after it, with its figures
---@field on_predict_begin fun()? before predict with these callbacks
---@field on_predict_batch_begin fun(batch: integer)? as on_test_batch_begin
---@field on_predict_batch_end (fun(batch: integer, logs: { outputs: any }): boolean?)? with the outputs of the
--- batch, as predict gives them; returning false ends the prediction
---@field on_predict_end fun()? after it

--- What `fit` calls around epochs and batches. Each belongs to one `fit` at a time. Options may stand without their
--- names in Keras' order, in front of a table of others: gb.callbacks.EarlyStopping("loss", 0.01, 3).
---@class gpubench.callbacks
gb.callbacks = {}

---@class EarlyStoppingOptions
---@field monitor string? "val_loss" unless given
---@field min_delta number? 0 unless given
---@field patience integer? epochs without improvement; 0 unless given
---@field mode string? "auto" unless given (losses and metrics of gb.metrics know what is better; a function needs
--- the mode), "min" or "max"
---@field baseline number? epochs count as waiting until the figure is better than this; none unless given
---@field restore_best_weights boolean? sets the weights of the best epoch at the end, or of the first that was watched
--- while none is better; false unless given
---@field start_from_epoch integer? epochs before which nothing is watched; 0 unless given

--- Ends training when the monitored figure has not improved for `patience` epochs. For all callbacks that monitor, what
--- is not a number is never the best (Keras keeps the first figure whatever it is).
---@param options EarlyStoppingOptions?
---@return Callback
function gb.callbacks.EarlyStopping(options) end

---@class ModelCheckpointOptions
---@field filepath string? required here or as the first argument
---@field monitor string? "val_loss" unless given
---@field save_best_only boolean? saves only where the monitored figure has improved, and, as Keras does, after an
--- epoch that validation_freq leaves out; false unless given
---@field save_weights_only boolean? `filepath` is a .safetensors file of weights instead of a model's folder; false
--- unless given
---@field mode string? "auto" unless given (losses and metrics of gb.metrics know what is better; a function needs
--- the mode), "min" or "max"

--- Saves the model after every epoch. "{epoch}" and figures such as "{val_loss}" in `filepath` are filled in, with
--- Python's formats of numbers too: "model-{epoch:02d}-{val_loss:.2f}". Without a format the epoch has two digits or
--- more ("01", Keras: "1") and a figure four behind the point. Names of no figure are an error.
---@param filepath string|ModelCheckpointOptions
---@param options ModelCheckpointOptions?
---@return Callback
function gb.callbacks.ModelCheckpoint(filepath, options) end

--- Sets the learning rate at the beginning of each epoch to what `fn` returns; epochs count from 1, Keras' from 0.
--- learning_rate goes into the history.
---@param fn fun(epoch: integer, rate: number): number
---@return Callback
function gb.callbacks.LearningRateScheduler(fn) end

---@class ReduceLROnPlateauOptions
---@field monitor string? "val_loss" unless given
---@field factor number? 0.1 unless given
---@field patience integer? epochs without improvement; 10 unless given
---@field mode string? "auto" unless given (losses and metrics of gb.metrics know what is better; a function needs
--- the mode), "min" or "max"
---@field min_delta number? 0.0001 unless given
---@field cooldown integer? epochs after a change in which none is counted; 0 unless given
---@field min_lr number? 0 unless given

--- Multiplies the learning rate by `factor` when a figure has not improved. learning_rate goes into the history.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) }
--- model:compile { optimizer = gb.optimizers.SGD { learning_rate = 1 }, loss = "mse" }
--- local history = model:fit(gb.zeros { 4, 1 }, gb.zeros { 4, 1 }, { epochs = 3, verbose = 0,
---   callbacks = { gb.callbacks.ReduceLROnPlateau { monitor = "loss", patience = 1 } } }).history
--- assert(history.learning_rate[1] == 1 and history.learning_rate[3] < 0.11)
--- ```
---@param options ReduceLROnPlateauOptions?
---@return Callback
function gb.callbacks.ReduceLROnPlateau(options) end

--- Ends training at the batch whose loss is infinite or not a number. It waits for the device after every batch.
---@return Callback
function gb.callbacks.TerminateOnNaN() end

---@class CSVLoggerOptions
---@field filename string? required here or as the first argument
---@field separator string? "," unless given
---@field append boolean? adds to the file that is there; false: a new file, unless given

--- Writes a row of figures for each epoch into a CSV file, with epochs from 1 (Keras: from 0). What an epoch lacks is
--- "NA": figures of a validation that is not made after each. Appending to a file with other columns is an error.
---@param filename string|CSVLoggerOptions
---@param options CSVLoggerOptions?
---@return Callback
function gb.callbacks.CSVLogger(filename, options) end

--- Keras' name for a table of functions, which stands in `callbacks` by itself too.
---@param options CallbackFunctions
---@return Callback
function gb.callbacks.LambdaCallback(options) end

---@class TensorBoardOptions
---@field log_dir string? the folder of the folders train and validation; "logs" unless given
---@field update_freq integer|string|nil "epoch" unless given; "batch", or a number of batches after which the figures
--- so far are written too, which waits for the device
---@field write_steps_per_second boolean? false unless given
---@field histogram_freq integer? 0 unless given; others are an error
---@field write_graph boolean? false unless given (Keras: true); true is an error
---@field write_images boolean? false unless given; true is an error
---@field embeddings_freq integer? 0 unless given; others are an error
---@field embeddings_metadata table? an error; none unless given
---@field profile_batch integer|table|nil 0 unless given; others are an error: gb.callbacks.Profiler traces steps

--- Writes event files with the figures of each epoch, which TensorBoard shows while the training goes on. Tags and
--- steps are Keras': epoch_loss over epochs from 0, batch_loss over batches from 1, evaluation_loss_vs_iterations over
--- steps of the optimizer; in the folders train and validation.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
--- model:compile { optimizer = "sgd", loss = "mse" }
--- local board = gb.callbacks.TensorBoard(gb._native.options.out .. "/results/logs", { update_freq = "batch" })
--- model:fit(gb.ones { 8, 2 }, gb.zeros { 8, 1 }, { epochs = 2, verbose = 0, callbacks = { board } })
--- ```
---@param log_dir string|TensorBoardOptions|nil "logs" unless given
---@param options TensorBoardOptions?
---@return Callback
function gb.callbacks.TensorBoard(log_dir, options) end

---@class ProfilerOptions
---@field path string a folder, made if it is missing
---@field steps integer[]? { first, last }: numbers of steps, from 1 over all epochs; { 10, 15 } unless given

--- Traces these steps of fit, on any device, and writes into the folder: trace.json for Perfetto or chrome://tracing,
--- profile.json (as Model:profile returns it) and profile.txt (tables of layers, ops and idle gaps). An error if the
--- training is known to end before the last of these steps. If it ends before the first one, for example because
--- EarlyStopping ended it, a warning and profile.txt say so.
---@param options ProfilerOptions
---@return Callback
function gb.callbacks.Profiler(options) end

return gb
