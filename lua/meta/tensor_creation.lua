---@meta
-- Tensors made of numbers, of other tensors and at random, and variables. As all functions of tensors they work
-- eagerly, inside gb.compile and dataset maps, and under gb.tape.

---@class gpubench
local gb = {}

---@class TensorOptions
---@field dtype string? default "float32" for numbers, "bool" for booleans

--- A tensor of a number, a boolean or nested tables of them.
---@param value number|boolean|table|Tensor
---@param options TensorOptions?
---@return Tensor
function gb.tensor(value, options) end

--- A tensor of one value everywhere; float32 unless `dtype` says another type.
---@param shape integer[]
---@param value number
---@param options TensorOptions?
---@return Tensor
function gb.full(shape, value, options) end

--- A tensor of 0; float32 unless `dtype` says another type.
---@param shape integer[]
---@param options TensorOptions?
---@return Tensor
function gb.zeros(shape, options) end

--- A tensor of 1; float32 unless `dtype` says another type.
---@param shape integer[]
---@param options TensorOptions?
---@return Tensor
function gb.ones(shape, options) end

--- Tensors of one type behind each other along an axis; they may differ in that dimension alone.
---@param parts Tensor[]
---@param axis integer? default 0
---@return Tensor
function gb.concat(parts, axis) end

--- Tensors of one shape along a new dimension.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.stack({ gb.zeros { 3 }, gb.ones { 3 } }, -1).shape[2] == 2)
--- ```
---@param parts Tensor[]
---@param axis integer? default 0
---@return Tensor
function gb.stack(parts, axis) end

---@class MatmulOptions
---@field transpose_a boolean? swaps the last two dimensions of `a`, which is not copied for it; false unless given
---@field transpose_b boolean? the same of `b`; false unless given

--- Matrix product; leading dimensions are a batch and broadcast.
---
--- ```lua
--- local gb = require "gpubench"
--- local a, b = gb.ones { 2, 3, 4 }, gb.ones { 5, 4 }
--- assert(gb.matmul(a, b, { transpose_b = true }).shape[3] == 5)
--- ```
---@param a Tensor
---@param b Tensor
---@param options MatmulOptions?
---@return Tensor
function gb.matmul(a, b, options) end

--- Elements of `a` where the condition holds, else of `b`; a plain number takes the other's dtype.
---@param condition Tensor
---@param a Tensor|number
---@param b Tensor|number
---@return Tensor
function gb.where(condition, a, b) end

---@class VariableOptions
---@field name string? in messages and saved weights; "variable" unless given
---@field trainable boolean? whether models and optimizers update it; true unless given
---@field dtype string? "float32" for numbers, "bool" for booleans unless given

--- A tensor that outlives a step and can be assigned to.
---
--- ```lua
--- local gb = require "gpubench"
--- local count = gb.Variable(0, { name = "count", trainable = false })
--- local step = gb.compile(function() count:assign_add(1) end)
--- step(); step()
--- assert(count:item() == 2)
--- ```
---@param initial Tensor|number|table
---@param options VariableOptions?
---@return Tensor
function gb.Variable(initial, options) end

--- Random tensors.
---@class gpubench.random
gb.random = {}

---@class UniformOptions
---@field low number? included; 0 unless given
---@field high number? not included; 1 unless given
---@field seed integer? the same numbers for the same seed; numbers of their own unless given

--- Uniform in [low, high); default 0 and 1. Without `seed`, numbers of their own in each call. In a function that is
--- traced (gb.compile, strategy:run, a loss, a metric, a layer's function) each call of it draws anew, with `seed` too;
--- in a map, each element.
---@param shape integer[]
---@param options UniformOptions?
---@return Tensor
function gb.random.uniform(shape, options) end

---@class NormalOptions
---@field mean number? 0 unless given
---@field stddev number? standard deviation; 1 unless given
---@field seed integer? the same numbers for the same seed; numbers of their own unless given

--- Normal numbers; as gb.random.uniform in all else.
---@param shape integer[]
---@param options NormalOptions?
---@return Tensor
function gb.random.normal(shape, options) end

return gb
