---@meta
-- Callbacks: what fit, evaluate and predict call around epochs and batches. Names, options and defaults are those of
-- Keras.

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
