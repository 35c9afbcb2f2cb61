---@meta
-- How weights of layers begin, what large ones cost, and what updates must keep them to. Names, options and defaults
-- are those of Keras.

---@class gpubench
local gb = {}

--- Initializers with arguments, as text that layers take; without arguments the name alone does, such as "he_normal".
---
--- ```lua
--- local gb = require "gpubench"
--- local narrow = gb.initializers.RandomNormal { stddev = 0.02, seed = 7 }
--- assert(narrow == "random_normal(mean=0, stddev=0.02, seed=7)")
--- gb.layers.Dense(4, { kernel_initializer = narrow })
--- ```
---@class gpubench.initializers
gb.initializers = {}

---@class InitializerOptions
---@field seed integer? the same numbers for the same seed; drawn from the global seed unless given

---@class ConstantInitializerOptions
---@field value number? of every element; 0 unless given

---@class UniformInitializerOptions: InitializerOptions
---@field minval number? -0.05 unless given
---@field maxval number? 0.05 unless given

---@class NormalInitializerOptions: InitializerOptions
---@field mean number? 0 unless given
---@field stddev number? 0.05 unless given

--- Sets all elements to 0.
---@return string
function gb.initializers.Zeros() end

--- Sets all elements to 1.
---@return string
function gb.initializers.Ones() end

--- Sets all elements to `value`.
---@param value number|ConstantInitializerOptions?
---@return string
function gb.initializers.Constant(value) end

--- Uniform in +-sqrt(6 / (fan_in + fan_out)): the default of kernels.
---@param options InitializerOptions?
---@return string
function gb.initializers.GlorotUniform(options) end

--- Normal, cut at two standard deviations, with a variance of 2 / (fan_in + fan_out).
---@param options InitializerOptions?
---@return string
function gb.initializers.GlorotNormal(options) end

--- Uniform in +-sqrt(6 / fan_in), for layers before a relu.
---@param options InitializerOptions?
---@return string
function gb.initializers.HeUniform(options) end

--- Normal, cut at two standard deviations, with a variance of 2 / fan_in, for layers before a relu.
---@param options InitializerOptions?
---@return string
function gb.initializers.HeNormal(options) end

--- Uniform in [minval, maxval).
---@param minval number|UniformInitializerOptions?
---@param maxval number|UniformInitializerOptions?
---@return string
function gb.initializers.RandomUniform(minval, maxval) end

--- Normal with a mean and a standard deviation.
---@param mean number|NormalInitializerOptions?
---@param stddev number|NormalInitializerOptions?
---@return string
function gb.initializers.RandomNormal(mean, stddev) end

--- Normal, cut at two standard deviations, with a variance of 1 / fan_in, for layers before a selu.
---@param options InitializerOptions?
---@return string
function gb.initializers.LecunNormal(options) end

--- Uniform in +-sqrt(3 / fan_in).
---@param options InitializerOptions?
---@return string
function gb.initializers.LecunUniform(options) end

---@class OrthogonalInitializerOptions: InitializerOptions
---@field gain number? 1 unless given

--- Columns (or rows, if there are fewer) of length `gain` at right angles to each other; dimensions but the last are
--- rows.
---@param gain number|OrthogonalInitializerOptions?
---@return string
function gb.initializers.Orthogonal(gain) end

--- Values within two standard deviations of the mean.
---@param mean number|NormalInitializerOptions?
---@param stddev number|NormalInitializerOptions?
---@return string
function gb.initializers.TruncatedNormal(mean, stddev) end

---@class VarianceScalingOptions: InitializerOptions
---@field scale number? 1 unless given
---@field mode string? "fan_in" unless given, "fan_out" or "fan_avg"
---@field distribution string? "truncated_normal" unless given, "untruncated_normal" or "uniform"

--- Values with a variance of scale / fan; a fan is the number of inputs or outputs that a value connects.
---@param scale number|VarianceScalingOptions?
---@param mode string|VarianceScalingOptions?
---@param distribution string|VarianceScalingOptions?
---@return string
function gb.initializers.VarianceScaling(scale, mode, distribution) end

--- Penalties for large weights, as text that layers take: l1 times the sum of magnitudes, l2 times the sum of squares.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.regularizers.L1L2 { l1 = 0.01, l2 = 0.02 } == "l1_l2(l1=0.01, l2=0.02)")
--- assert(gb.regularizers.L1L2(0.01, 0.02) == "l1_l2(l1=0.01, l2=0.02)")
--- gb.layers.Dense(4, { kernel_regularizer = gb.regularizers.L2(0.001), bias_regularizer = "l1" })
--- ```
---@class gpubench.regularizers
gb.regularizers = {}

--- Adds l1 times the sum of the weights' magnitudes to the loss.
---@param l1 number|{ l1: number? }|nil 0.01 unless given
---@return string
function gb.regularizers.L1(l1) end

--- Adds l2 times the sum of the weights' squares to the loss.
---@param l2 number|{ l2: number? }|nil 0.01 unless given
---@return string
function gb.regularizers.L2(l2) end

--- Adds both: l1 times the sum of magnitudes and l2 times the sum of squares.
---@param l1 number|{ l1: number?, l2: number? }|nil 0 each unless given
---@param l2 number?
---@return string
function gb.regularizers.L1L2(l1, l2) end

--- What weights must fulfil, as text that layers take. Optimizers bring them to it after each update, in fit and in
--- loops by hand.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.constraints.MaxNorm { max_value = 2, axis = { 0, 1 } } == "max_norm(max_value=2, axis=[0, 1])")
--- assert(gb.constraints.MaxNorm(2, { 0, 1 }) == "max_norm(max_value=2, axis=[0, 1])")
--- gb.layers.Dense(4, { kernel_constraint = gb.constraints.UnitNorm(), bias_constraint = "non_neg" })
--- ```
---@class gpubench.constraints
gb.constraints = {}

--- Lengths along `axis` of at most max_value; the default axis 0 has the inputs of a Dense layer's unit, { 0, 1, 2 }
--- those of a Conv2D filter.
---@param max_value number|{ max_value: number?, axis: integer|integer[]|nil }|nil 2 along axis 0 unless given
---@param axis integer|integer[]|nil
---@return string
function gb.constraints.MaxNorm(max_value, axis) end

---@class MinMaxNormOptions
---@field min_value number? 0 unless given
---@field max_value number? 1 unless given
---@field rate number? share of the way to these lengths that each update goes; 1 unless given
---@field axis integer|integer[]|nil 0 unless given

--- Lengths along `axis` of min_value to max_value.
---@param min_value number|MinMaxNormOptions?
---@param max_value number?
---@param rate number?
---@param axis integer|integer[]|nil
---@return string
function gb.constraints.MinMaxNorm(min_value, max_value, rate, axis) end

--- Negative weights become 0.
---@return string
function gb.constraints.NonNeg() end

--- Lengths along `axis` of 1.
---@param axis integer|integer[]|{ axis: integer|integer[]|nil }|nil 0 unless given
---@return string
function gb.constraints.UnitNorm(axis) end

return gb
