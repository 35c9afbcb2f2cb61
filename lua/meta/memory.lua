---@meta
-- Memory: what a training step takes, predicted before and reported after, and the largest batch that fits.

---@class Model
local Model = {}

--- What one layer (or "loss", the optimizer's name, "metrics") holds of one kind when most is in use.
---@class LayerMemory
---@field layer string name of the layer
---@field kind string a kind of MemoryPlan
---@field bytes integer bytes of this kind

--- Bytes that are alive while a kernel runs, of those that die within the step.
---@class LaunchMemory
---@field op string whose kernel runs
---@field label string the layer that it belongs to: "dense/gradient"
---@field bytes integer alive while it runs

--- Bytes by kind, when most is in use. Gradients are what the optimizer reads; the gradients of activations count as
--- activations. What dies within a step (gradients, activations, workspace) shares the arena, which is larger than what
--- is alive at one time by the gaps in it.
---@class MemoryByKind
---@field total integer variables + optimizer + inputs + constants + arena
---@field variables integer weights, batch norm's statistics, metrics
---@field optimizer integer its slots, step counter and learning rate
---@field gradients integer of weights, until the optimizer has read them
---@field activations integer kept from the forward pass, and gradients of them
---@field workspace integer scratch memory of kernels
---@field inputs integer of devices with memory of their own: the slots that batches are copied to
---@field constants integer numbers that the plan holds
---@field arena integer memory that all of a step share
---@field lower_bound integer of the arena: the most that is alive at one time
---@field peak_activations integer the most that activations take at one time, which may be another than the peak of all
---@field offloaded integer of the host's memory, beside total: activations that wait there for their gradients

--- What a training step takes of one device.
---@class DeviceMemoryPlan: MemoryByKind
---@field device string such as "gpu:0"
---@field layers LayerMemory[] largest first
---@field timeline LaunchMemory[] in the order of the launches
---@field peak_launch integer in the timeline: when most is alive

--- Sums over all devices.
---@class MemoryPlan: MemoryByKind
---@field devices DeviceMemoryPlan[] one for each device of the model
---@field text string the same as a table, to be printed

--- What a training step on batches of this size will take, before it takes any of it: the step is planned, not run. A
--- dataset of batches says more than a size, with which data is taken to be float32: the types that its elements really
--- have. What the stages of a pipeline hold, such as prefetch_to_device on its device, is theirs. Needs graph
--- execution.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
--- local planned = model:memory(64)
--- assert(planned.variables + planned.optimizer + planned.inputs + planned.constants + planned.arena == planned.total)
--- model:fit(gb.datasets.mnist("train"):batch(64), { steps_per_epoch = 1, verbose = 0 })
--- local used = gb.config.memory_info().in_use
--- assert(math.abs(planned.total - used) <= 0.02 * used)
--- print(planned.text)
--- ```
---@param batch integer|Dataset
---@return MemoryPlan
function Model:memory(batch) end

---@class gpubench
local gb = {}

--- What memory a model takes and devices hold.
---@class gpubench.memory
gb.memory = {}

--- A device's pool. Free memory in many pieces cannot hold one large tensor: `fragmentation` is the share of the free
--- memory that is not in the largest piece.
---@class PoolMemory: MemoryInfo
---@field device string such as "gpu:0"
---@field fragmentation number share of the free memory that is not in its largest piece, 0 to 1

--- Host memory that grows with the sizes of data: some 0.5 MB for each plan of a small model, and a few kB for each
--- kernel. What was used longest ago goes.
---@class KeptPlans
---@field plans integer? of the model: the last 64 of training, of evaluation and of prediction
---@field kernels integer of ops that ran eagerly: at most 4096

--- What gb.memory.report returns.
---@class MemoryReport
---@field devices PoolMemory[] those that have been used
---@field kept KeptPlans plans and kernels that are kept for later steps
---@field resident integer? bytes of host memory that the process has, of pools, plans, libraries and Lua
---@field step MemoryPlan? of the model: the step that takes most among those whose plans are kept

--- The pools of the devices, the plans that are kept, and what the step of a model that has trained holds.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(10, { activation = "softmax", input_shape = { 784 } }) }
--- model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
--- model:fit(gb.datasets.mnist("train"):batch(64), { steps_per_epoch = 1, verbose = 0 })
--- local report = gb.memory.report(model)
--- local largest = report.step.devices[1].layers[1]
--- print(largest.layer, largest.kind, largest.bytes)
--- assert(report.devices[1].in_use >= report.step.total)
--- ```
---@param model Model? whose step and plans are reported too; none unless given
---@return MemoryReport
function gb.memory.report(model) end

--- Real steps with one size of batch.
---@class BatchSizeTrial
---@field batch_size integer examples of a step
---@field fits boolean whether the steps ran within the limit
---@field predicted integer bytes, with what else is in use on the device
---@field used integer? nil where memory ran out

--- How gb.find_batch_size found its batch.
---@class BatchSizeSearch
---@field batch_size integer the largest that fits
---@field limit integer bytes
---@field trials BatchSizeTrial[] those that were run, at most four

--- The largest batch size that a model trains on within a limit of memory: predicted as by `model:memory`, then proved
--- by real steps, at most four times with smaller and smaller batches where memory ends earlier. Weights, optimizer and
--- metrics are afterwards as they were. `data` is a dataset of single examples, or a function that makes a dataset of
--- batches of a size. Without a limit, the device's own counts (gb.config.set_memory_limit). Refused while the model
--- runs, as in a callback of its own fit.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(256, { input_shape = { 784 } }), gb.layers.Dense(10) }
--- model:compile { optimizer = "sgd", loss = gb.losses.CategoricalCrossentropy { from_logits = true } }
--- local digits = gb.datasets.mnist("train")
--- local batch_size, search = gb.find_batch_size(model, digits, 2 << 20)
--- assert(#search.trials <= 4 and search.trials[#search.trials].used <= 2 << 20)
--- model:fit(digits:batch(batch_size), { verbose = 0 })
--- ```
---@param model Model
---@param data Dataset|fun(batch_size: integer): Dataset
---@param limit integer? bytes
---@return integer batch_size
---@return BatchSizeSearch search
function gb.find_batch_size(model, data, limit) end

return gb
