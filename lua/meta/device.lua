---@meta
-- Devices: which there are, what runs where, how they are split and limited.

---@class gpubench
local gb = {}

--- Names of the devices of this machine that can be used, GPUs first, CPUs last. To know that, it begins the use of
--- every GPU, which takes up to a second and about 0.5 GB of each; with `--device`, only that one is used, and the
--- others are listed as they are. gb.config.list_logical_devices() lists devices and uses none.
---@return string[]
function gb.devices() end

--- Runs `fn` with all that it creates (tensors, layers, ops) placed on a device, and returns what it returns; inputs on
--- other devices are copied. Without arguments, the current device's name: that of `--device`, or the first device that
--- can be used. A device that is not there or cannot be used is an error, unless
--- gb.config.set_soft_device_placement(true) lets its work run on the CPU; an emulated one ("emulated:h200:0") is there
--- when it is named.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.device("cpu:0", function() return gb.ones { 2, 2 } end)
--- assert(x.device == "cpu:0")
--- ```
---@overload fun(): string
---@generic R
---@param name string "cpu:0", "gpu:1", "/GPU:0"
---@param fn fun(): R
---@return R
function gb.device(name, fn) end

--- Devices, memory, threads, seeds and types for all that is made from now on.
---@class gpubench.config
gb.config = {}

--- What the machine has before it is split; does not take the devices into use.
---@param kind "CPU"|"GPU"|nil devices of this kind only; all unless given
---@return string[]
function gb.config.list_physical_devices(kind) end

--- The devices that scripts can name; of emulated ones those that were named. Without GPUs that are known to be
--- unusable; does not take the devices into use.
---@param kind "CPU"|"GPU"|"EMULATED"|nil devices of this kind only; all unless given
---@return string[]
function gb.config.list_logical_devices(kind) end

---@class CustomProfile
---@field like string? the profile from which come the numbers that are not given: "a100", "h100", "h200", "t4", "v100";
--- none unless given
---@field product string? what outputs call it; made from `like` unless given
---@field memory_bytes number? size of the device's memory; that of `like` unless given
---@field memory_bytes_per_s number? rate of element-wise kernels on large tensors; that of `like` unless given
---@field float32_flops_per_s number? rate of large float32 products; that of `like` unless given
---@field float16_flops_per_s number? rate of large products of 16 and of 8 bits; that of `like` unless given
---@field kernel_s number? seconds that every kernel takes beyond its work; that of `like` unless given
---@field ramp_s number? bends the curve of small products; that of `like` unless given
---@field row_bytes number? length of the rows that softmax reads again from memory half of the times; that of `like`
--- unless given
---@field launch_s number? seconds that a launch takes the host; that of `like` unless given
---@field latency_s number? seconds of a copy, or of a message between devices, beyond its bytes; that of `like` unless
--- given
---@field pinned_bytes_per_s number? rate of copies between the device and page-locked memory of the host; that of
--- `like` unless given
---@field pageable_bytes_per_s number? the same for the host's ordinary memory; that of `like` unless given
---@field peer_bytes_per_s number? rate between devices; that of `like` unless given

--- What emulated:custom:0 to emulated:custom:7 emulate. Without `like` all numbers are needed. Must come before the
--- devices are used.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_custom_profile { like = "h200", pinned_bytes_per_s = 2e9 }  -- an H200 behind a slow link
--- print(gb.config.device_description "emulated:custom:0")
--- ```
---@param profile CustomProfile
function gb.config.set_custom_profile(profile) end

--- Threads for all CPU devices together: `--threads`, or the cores that this process may use.
---@return integer
function gb.config.cpu_threads() end

---@class LogicalDevice
---@field memory_limit integer? bytes; no limit unless given
---@field threads integer? of a CPU; 0: an equal share of those that no device asks for; 0 unless given

--- Splits a physical device into logical ones, named cpu:0, cpu:1, ... (gpu:0, gpu:1, ...), each with its own memory.
--- Must come before the devices are used.
---
--- Where the machine's memory has several nodes (NUMA), each of several CPU devices lies on one of them, in their
--- order: the threads of its kernels and of its replica run on the processors there, and so its variables lie there.
--- The device's description names the node. One with more threads than a node has processors stays unbound, and so do
--- all where the process was given the processors of one node (by `mpirun`, `srun` or `taskset`) or where the
--- environment binds OpenMP's threads.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1, memory_limit = 64 << 20 } })
--- assert(#gb.devices() >= 2)
--- ```
---@param physical string
---@param logical LogicalDevice[]
function gb.config.set_logical_devices(physical, logical) end

--- The devices of a kind that are used; the others are hidden, and those named are numbered anew in this order. GPUs
--- are counted as CUDA does after `CUDA_VISIBLE_DEVICES`; an empty list hides all GPUs. At least one CPU device must
--- stay.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_visible_devices({}, "GPU")
--- assert(gb.devices()[1] == "cpu:0")
--- ```
---@param devices string[]
---@param kind "CPU"|"GPU"
function gb.config.set_visible_devices(devices, kind) end

--- Whether GPUs may compute float32 matrix products and convolutions in TF32 (ten bits of mantissa). Off by default;
--- the run records it.
---@param allowed boolean
function gb.config.set_tf32(allowed) end

--- How many of the algorithms that cuBLASLt proposes for a matrix product GPUs measure when they plan it, to keep the
--- fastest; 0 takes the one that it proposes first. Without a call, 8 for products below 1 GFLOP and none for larger
--- ones. Which one is kept may differ from run to run, and with it the last bits of results; the run records the
--- setting.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_matmul_search(8)
--- ```
---@param candidates integer
function gb.config.set_matmul_search(candidates) end

--- true (the default): memory is taken when it is needed. false: the whole limit is taken at first use, or, of a GPU
--- that has none, nine tenths of what is free.
---@param device string
---@param growth boolean
function gb.config.set_memory_growth(device, growth) end

--- The most memory that a device may take, in bytes; work that needs more ends with out_of_memory.
---@param device string
---@param bytes integer 0 removes the limit
function gb.config.set_memory_limit(device, bytes) end

--- What happens to work for a device that is missing: `gb.device`, `--device` and `tensor:to` of it. false (the
--- default): an error that says why it is missing. true: the work runs on cpu:0, standard error says so once, and the
--- rows of that point carry the reason in the column `detail`; a row whose axis `device` names the missing device is
--- unreliable too. Strategies and measurements of single devices always need those that they name. Reset at every point
--- to what was set before the experiment.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_soft_device_placement(true)
--- local device = gb.device("gpu:7", function() return gb.ones({ 2 }).device end)
--- assert(device == "cpu:0" or device == "gpu:7")
--- gb.config.set_soft_device_placement(false)
--- ```
---@param soft boolean
function gb.config.set_soft_device_placement(soft) end

--- Whether work for a device that is missing runs on the CPU (false unless set).
---@return boolean
function gb.config.soft_device_placement() end

--- The seed of initializers, shuffles and random ops made from now on.
---@param seed integer
function gb.config.set_seed(seed) end

--- The type of the layers and Input layers made from now on (their weights, what they compute in, what models cast
--- their inputs to) unless they have a `dtype` of their own or a policy is set, as in Keras; "float32" at the start of
--- every point. Optimizers keep their state in the type of the weights; losses and metrics compute in float32. Nothing
--- scales the loss: small gradients vanish in float16, where Adam needs an epsilon of 1e-4 or so. The column
--- `precision` records it. For float32 weights under 16-bit arithmetic see gb.config.set_dtype_policy.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_floatx "bfloat16"
--- local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
--- assert(model(gb.ones { 1, 3 }).dtype == "bfloat16")
--- gb.config.set_floatx "float32"
--- ```
---@param dtype "float32"|"float16"|"bfloat16"
function gb.config.set_floatx(dtype) end

--- The type that gb.config.set_floatx has set; "float32" unless set.
---@return string
function gb.config.floatx() end

--- The policy of the layers made from now on unless they have a `dtype` of their own, as in Keras; gb.config.floatx()
--- until it is set, and again at the start of every point. A type is both what weights are stored in and what layers
--- compute in. Under "mixed_float16" and "mixed_bfloat16"
---  - weights, optimizer state and the statistics of BatchNormalization are float32;
---  - a layer casts its weights and its floating-point inputs to 16 bits, computes and gives its output in them, and so
---    do the gradients on their way back; sums within a matrix product, a normalization or a reduction are of float32;
---  - softmax, as an `activation` or as a layer, computes in float32 and gives float32;
---  - losses and metrics compute in float32, whatever they are given (this under every policy);
---  - a model's predictions are 16 bits wide unless its last activation is softmax or its last layer has
---    `dtype = "float32"`, which other last activations need, as in Keras;
---  - a model that has a layer of "mixed_float16" scales its loss (see Model:compile, auto_scale_loss).
--- The column `precision` names the policy.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.config.set_dtype_policy "mixed_bfloat16"
--- local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
--- assert(model(gb.ones { 1, 3 }).dtype == "bfloat16")
--- assert(model.variables[1].dtype == "float32" and gb.config.dtype_policy() == "mixed_bfloat16")
--- gb.config.set_dtype_policy "float32"
--- ```
---@param name "float32"|"float16"|"bfloat16"|"mixed_float16"|"mixed_bfloat16"
function gb.config.set_dtype_policy(name) end

--- The policy that gb.config.set_dtype_policy has set; the type of gb.config.floatx unless set.
---@return string
function gb.config.dtype_policy() end

--- Bytes of a device's memory.
---@class MemoryInfo
---@field in_use integer bytes of tensors that are alive
---@field peak integer the most bytes that were in use at one time
---@field reserved integer taken from the device, in use or not
---@field largest_free integer largest block to be had without asking the device
---@field limit integer? bytes, where gb.config.set_memory_limit or the device sets a limit

--- The memory of a device's pool now, in bytes.
---@param device string? the current one when absent
---@return MemoryInfo
function gb.config.memory_info(device) end

--- "AMD EPYC 9354 32-Core Processor, 2 threads"
---@param device string
---@return string
function gb.config.device_description(device) end

--- What a device's sensors say now, and what it is made for, in SI units; what it does not tell is absent. Of a
--- processor only `free_memory_bytes`, that of the machine. Of a GPU also `power_w`, `power_limit_w`, `temperature_c`,
--- `sm_clock_hz`, `max_sm_clock_hz`, `uncorrected_errors` (ECC, since the driver was loaded), `throttled` (1 while
--- hardware, heat or the power brake slow it down), `link_generation` and `link_lanes` with `max_link_generation` and
--- `max_link_lanes`, `peak_memory_bytes_per_s`, and `peak_float32_flops_per_s` and others by type where the vendor
--- publishes them.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.config.device_sensors("cpu:0").free_memory_bytes > 0)
--- ```
---@param device string
---@return table<string, number>
function gb.config.device_sensors(device) end

return gb
