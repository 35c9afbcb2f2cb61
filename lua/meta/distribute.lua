---@meta
-- Training by replicas: a copy of the model on each of several devices, which share every batch and stay equal.
-- Names are those of tf.distribute.

---@class gpubench
local gb = {}

--- Training by several devices, processes or machines.
---@class gpubench.distribute
gb.distribute = {}

---@class StrategyOptions
---@field devices string[]? one replica each; all GPUs unless given, or all CPU devices where there is no GPU
---@field cross_device "automatic"|"local"|"nccl"|"reduction_to_one"|nil how replicas exchange; "automatic" unless
--- given: "nccl" for GPUs, "local" (by their threads in the host's memory, each adding up a part, and through MPI
--- between processes) for CPU devices; "reduction_to_one" lets the first add up all. GPUs whose strategy asks for one
--- of these, shares of one GPU too, exchange copies in page-locked memory, which no recorded step holds. An MPI that
--- says that it knows GPUs, or of which GPUBENCH_MPI_CUDA_AWARE=1 says so, takes tensors as they lie in a process's
--- one GPU
---@field bucket_bytes integer? gradients travel together up to so many bytes, while the backward pass goes on; 25 MiB
--- unless given
---@field compression "float16"|"bfloat16"|nil what float32 gradients travel as; as they are unless given
---@field shares number[]? each replica's part of a batch, in any unit; equal parts unless given
---@field delays number[]? for each replica, seconds that it waits for every example before a step: a device that is
--- slow on purpose; 0 each unless given

--- A model that is made in a strategy's scope is trained, evaluated and measured by all of its replicas: `model:fit`,
--- `gb.measure.training` and all else is written as for one device. A batch is the batch of all of them: each takes its
--- rows, and the update is that of one device with the whole batch, but for rounding, an uneven last batch included;
--- Dropout drops for an example what it would drop there; not in several processes, which are dealt their elements in
--- turn. BatchNormalization sees a replica's own examples, unless it is `synchronized`; then a batch with fewer
--- examples than replicas is an error. With gradient_accumulation_steps each replica cuts its own rows into parts, so
--- that what looks at a part (batch normalization, the ranges of quantization-aware layers) sees other rows than on one
--- device. Processes begin with the variables of process 0. `gb.measure.inference` asks the first
--- replica alone; `model:memory` and `gb.memory.report` tell of the replica with the largest share. After an error in
--- the middle of a step replicas may differ: the strategy takes no more steps.
---@class Strategy
---@field num_replicas_in_sync integer of all processes together
---@field devices string[] of this process
---@field communicator string "local", "nccl 2.28.3", "local through host memory", "mpi, CUDA-aware", ...
local Strategy = {}

--- Calls `fn` with the strategy in force for the models it makes, on the first device, and returns what it returns.
---@generic T
---@param fn fun(): T
---@return T
function Strategy:scope(fn) end

---@class DistributeOptions
---@field shard "auto"|"file"|"element"|"off"|nil how processes divide the elements; "auto" unless given: by file where
--- elements would have to be read to be passed over and every process gets one, else by element; "off": each reads all
---@field batch "global"|"per_replica"|nil what a batch of the dataset is: the batch of all replicas, unless given, or
--- of each

--- A dataset of batches as this process's replicas take it. `fit`, `evaluate` and `gb.measure.training` do it
--- themselves, with the defaults.
---@param dataset Dataset
---@param options DistributeOptions?
---@return Dataset
function Strategy:distribute(dataset, options) end

--- A value of each replica of this process.
---@class PerReplica
---@field values Tensor[] one tensor for each replica, in the order of the strategy's devices

--- Traces `fn` for each replica, once for every size of batch, and runs the traces side by side. Tensors are divided by
--- rows, scalars and values of other types go to all; the results come as one PerReplica each. Inside,
--- `optimizer:apply_gradients` updates by the mean over all replicas' examples, so that a step written for one device,
--- with its loss the mean over its examples, is right as it stands (each replica's own gradients are of the mean over
--- its own examples: in float16 they may overflow a loss scale that suits the whole batch); layers' moving statistics
--- become the mean of all replicas', and a `synchronized` BatchNormalization normalizes by all their rows. Define `fn`
--- outside of the loop.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
--- local strategy = gb.distribute.MirroredStrategy()
--- local model = strategy:scope(function()
---   return gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- end)
--- local optimizer, loss_function = gb.optimizers.SGD { learning_rate = 0.1 }, gb.losses.CategoricalCrossentropy()
--- local function step(images, labels)
---   local tape <close> = gb.tape()
---   local loss = loss_function(labels, model(images, { training = true }))
---   optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
---   return loss
--- end
--- local first, last
--- for images, labels in strategy:distribute(gb.datasets.mnist("train"):batch(64):take(20)):iter() do
---   last = strategy:reduce("mean", strategy:run(step, images, labels)):item()
---   first = first or last
--- end
--- assert(strategy.num_replicas_in_sync == 2 and last < first)
--- ```
---@param fn fun(...: Tensor): ...
---@param ... Tensor|PerReplica or one array of them: strategy:run(step, { images, labels })
---@return PerReplica ...
function Strategy:run(fn, ...) end

--- One tensor, on the first device, of what replicas have, those of other processes included.
---@param operation "sum"|"mean"
---@param value PerReplica
---@param axis integer? from 1: adds up along it too, so that the mean is that of all rows; without, replicas alone are
--- reduced
---@return Tensor
function Strategy:reduce(operation, value, axis) end

--- A replica on each device of this process.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
--- local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0", "cpu:1" } }
--- local model = strategy:scope(function()
---   local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
---   model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
---   return model
--- end)
--- model:fit(gb.datasets.mnist("train"):batch(64), { verbose = 0 })
--- local row = gb.measure.training(model, gb.datasets.mnist("train"):batch(64), { budget = 0.2, warmup = 0.1 })
--- assert(row.replicas == 2 and row.device == "cpu:0 cpu:1" and #row.ranks == 2 and row.exchanges == 1)
--- ```
---@param options StrategyOptions?
---@return Strategy
function gb.distribute.MirroredStrategy(options) end

--- A replica on each device of every process that runs the script (mpirun, srun, `gpubench run --workers 4 script`); in
--- a process of its own it is a MirroredStrategy. All processes make the same calls in the same order. The devices are
--- this process's; shares and delays are of its replicas.
---
--- ```lua
--- local gb = require "gpubench"
--- local strategy = gb.distribute.MultiWorkerMirroredStrategy()
--- assert(strategy.num_replicas_in_sync >= gb.distribute.num_processes())
--- ```
---@param options StrategyOptions?
---@return Strategy
function gb.distribute.MultiWorkerMirroredStrategy(options) end

--- Of a step, in seconds: of those that were timed, or, of replicas on GPUs, of the few that were traced after that.
--- What is not known is nil, and the row's `detail` says why.
---@class Rank
---@field device string where the replica is
---@field own_s number? a step less waiting and exchanges
---@field peer_wait_s number? standing still until the last replica had arrived
---@field exposed_exchange_s number? standing still for exchanges to which all had come
---@field exchange_s number? exchanges in all, those that run beside kernels too

--- Shares of a batch that would take all replicas equally long, the largest 1: by the `ranks` of a row of
--- gb.measure.training and the shares that it was measured with.
---@param ranks Rank[]
---@param shares number[]? equal ones unless given
---@return number[]
function gb.distribute.balanced_shares(ranks, shares) end

--- Measurements; each returns a row, or rows, of the columns that `gpubench help columns` lists.
---@class gpubench.measure
gb.measure = {}

--- Sets `weak_efficiency` or `strong_efficiency` of a row, with its interval, by what one replica does: by a strategy
--- of one device, so that both take the same path. Weak: X_n / (n X_1) with as many examples for each replica; strong:
--- T_1 / (n T_n) with as many examples for all.
---
--- ```lua
--- local gb = require "gpubench"
--- local alone = { replicas = 1, batch_size = 32, examples_per_s = 1000 }
--- local row = { replicas = 2, batch_size = 64, examples_per_s = 1900 }
--- assert(gb.measure.efficiency(row, alone, "weak").weak_efficiency == 0.95)
--- ```
---@param row Row of several replicas
---@param baselines Row|Row[] of one; of several the mean
---@param kind "weak"|"strong"
---@return Row row
function gb.measure.efficiency(row, baselines, kind) end

--- Which process this is of those that run the script together (`mpirun`, `srun`, `gpubench run --workers 4`); 0 in a
--- process of its own.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.distribute.process_index() < gb.distribute.num_processes())
--- ```
---@return integer
function gb.distribute.process_index() end

--- How many processes run the script together; 1 in a process of its own.
---@return integer
function gb.distribute.num_processes() end

return gb
