---@meta
-- More functions of tensors: trigonometry, parts and products along axes, sorting, places that tensors hold, einsum,
-- padding and ranges. Those with a gradient have one of every order; all that take a tensor take symbols of a model.

---@class Tensor
local Tensor = {}

--- The sine of each element, in radians. Beyond 2^30, where neighbouring numbers of float32 are many turns apart, the
--- result is not a number; cos and tan likewise.
---@return Tensor
function Tensor:sin() end

--- The cosine of each element, in radians.
---@return Tensor
function Tensor:cos() end

--- The tangent of each element, in radians.
---@return Tensor
function Tensor:tan() end

--- The angle from -pi / 2 to pi / 2 whose tangent each element is.
---@return Tensor
function Tensor:arctan() end

--- e ^ x - 1 of each element, accurate near 0.
---@return Tensor
function Tensor:expm1() end

--- The natural logarithm of 1 + x of each element, accurate near 0.
---@return Tensor
function Tensor:log1p() end

--- The same as `x ^ other`.
---@param other Tensor|number
---@return Tensor
function Tensor:pow(other) end

--- The same values, which gradients take for constants.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.tensor { 3.0 }
--- local tape <close> = gb.tape()
--- local y = (x:stop_gradient() * x):sum()
--- assert(tape:gradient(y, x):item() == 3)
--- ```
---@return Tensor
function Tensor:stop_gradient() end

--- Stretched to a shape by repeating its dimensions of 1; dimensions are added in front.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.tensor({ { 1 }, { 2 } }):broadcast_to({ 2, 3 }):sum():item() == 9)
--- ```
---@param shape integer[]
---@return Tensor
function Tensor:broadcast_to(shape) end

--- Parts along an axis, as a list: so many equal ones, or those that end before these indices (from 0) and the rest.
---
--- ```lua
--- local gb = require "gpubench"
--- local a, b = table.unpack(gb.ones({ 2, 6 }):split(2, -1))
--- assert(a.shape[2] == 3 and b.shape[2] == 3)
--- assert(#gb.arange(10):split { 2, 5 } == 3)
--- ```
---@param sections integer|integer[]
---@param axis integer? default 0
---@return Tensor[]
function Tensor:split(sections, axis) end

--- The parts of extent 1 along an axis, as a list and without that axis.
---@param axis integer? default 0
---@return Tensor[]
function Tensor:unstack(axis) end

--- Moved along axes: what leaves at the end comes in at the front. Without an axis as if it had one dimension alone.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.arange(4):roll(1):to_table()[1] == 3)
--- ```
---@param shift integer|integer[] one for all axes, or one for each; backwards where it is negative
---@param axis integer|integer[]|nil from 0, -1 is the last; all elements in their order unless given
---@return Tensor
function Tensor:roll(shift, axis) end

--- Each element so many times, one behind the other (Keras' repeat, a word of Lua).
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.arange(2):repeated(2):to_table()
--- assert(x[1] == 0 and x[2] == 0 and x[3] == 1)
--- ```
---@param repeats integer|integer[] one for all elements of the axis, or one for each
---@param axis integer? all elements in their order unless given
---@return Tensor
function Tensor:repeated(repeats, axis) end

--- The product of all elements, or along axes. Its gradient is right where elements are 0.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:prod(axis, keepdims) end

--- Running products along an axis: element i of the result is the product of the elements up to i.
---@param axis integer? default 0
---@param reverse boolean? from i to the last instead; default false
---@return Tensor
function Tensor:cumprod(axis, reverse) end

--- log(sum(exp(x))) of all elements, or along axes, without overflow.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:logsumexp(axis, keepdims) end

--- The elements of the last two dimensions on and below a diagonal, 0 above it.
---@param diagonal integer? how far above the main diagonal it lies; default 0
---@return Tensor
function Tensor:tril(diagonal) end

--- The elements of the last two dimensions on and above a diagonal, 0 below it.
---
--- ```lua
--- local gb = require "gpubench"
--- local hidden = gb.ones({ 3, 3 }):triu(1)
--- assert(hidden:sum():item() == 3)
--- ```
---@param diagonal integer? how far above the main diagonal it lies; default 0
---@return Tensor
function Tensor:triu(diagonal) end

--- In rising order along an axis; what is not a number comes last.
---@param axis integer? default -1
---@return Tensor
function Tensor:sort(axis) end

--- The indices (from 0) that sort an axis, as int64; of equal elements the first one comes first.
---@param axis integer? default -1
---@return Tensor
function Tensor:argsort(axis) end

--- The `k` largest elements of the last dimension, the largest first, and their indices (from 0) as int64; of equal
--- elements the first one comes first. What is not a number counts as the largest.
---
--- ```lua
--- local gb = require "gpubench"
--- local values, places = gb.tensor({ 1, 5, 3 }):top_k(2)
--- assert(values:to_table()[2] == 3 and places:to_table()[1] == 1)
--- ```
---@param k integer
---@return Tensor values
---@return Tensor indices
function Tensor:top_k(k) end

--- The block of `shape` that begins at `start`, counted from 0, which tensors may hold: a decoder reads from where it
--- is. A place that does not exist is an error, on a GPU not a number. `x[{ first, last }]` takes plain numbers alone.
---
--- ```lua
--- local gb = require "gpubench"
--- local position = gb.tensor(2, { dtype = "int64" })
--- assert(gb.arange(10):slice({ position }, { 3 }):sum():item() == 9)
--- ```
---@param start Tensor|(integer|Tensor)[] one number for each dimension
---@param shape integer[] -1: to the end, where the start is a plain number
---@return Tensor
function Tensor:slice(start, shape) end

--- With `updates` in place of the block that begins at `start` (as in slice): a cache of keys and values in a compiled
--- step, say.
---
--- ```lua
--- local gb = require "gpubench"
--- local cache = gb.zeros { 4, 2 }
--- local step = gb.compile(function(c, position) return c:slice_update({ position, 0 }, gb.ones { 1, 2 }) end)
--- cache = step(cache, gb.tensor(3, { dtype = "int64" }))
--- assert(cache[4]:sum():item() == 2)
--- ```
---@param start Tensor|(integer|Tensor)[] one number for each dimension
---@param updates Tensor
---@return Tensor
function Tensor:slice_update(start, updates) end

---@class ScatterUpdateOptions
---@field reduction "add"|nil adds updates to what is there; they replace it unless given

--- With `updates` at these places instead of what was there; of several updates of a place the last one stays. The last
--- dimension of the indices (from 0) has a number for each of the first dimensions of the tensor.
---
--- ```lua
--- local gb = require "gpubench"
--- local places = gb.tensor({ { 1 }, { 3 } }, { dtype = "int64" })
--- assert(gb.zeros({ 4 }):scatter_update(places, gb.tensor { 5, 6 }):to_table()[2] == 5)
--- ```
---@param indices Tensor integers
---@param updates Tensor
---@param options ScatterUpdateOptions?
---@return Tensor
function Tensor:scatter_update(indices, updates, options) end

--- Along an axis the element that each index (from 0) names; the other extents broadcast.
---
--- ```lua
--- local gb = require "gpubench"
--- local values, actions = gb.tensor { { 1, 2 }, { 3, 4 } }, gb.tensor({ { 1 }, { 0 } }, { dtype = "int64" })
--- assert(values:take_along_axis(actions, -1):sum():item() == 5)
--- ```
---@param indices Tensor|table integers, with as many dimensions
---@param axis integer? the tensor as one row unless given
---@return Tensor
function Tensor:take_along_axis(indices, axis) end

---@class gpubench
local gb = {}

--- With `value` around it: { before, after } for each dimension, or one of these or a number for all. "reflect" pads
--- with what lies inside as a mirror at the last element shows it, "symmetric" with that element too.
---
--- ```lua
--- local gb = require "gpubench"
--- local image = gb.ones { 28, 28, 1 }
--- local padded = gb.pad(image, { { 4, 4 }, { 4, 4 }, { 0, 0 } })
--- assert(padded.shape[1] == 36 and padded:sum():item() == 28 * 28)
--- assert(gb.pad(gb.arange(3), 2, "reflect"):to_table()[1] == 2)
--- ```
---@param x Tensor
---@param paddings integer|integer[][]
---@param value number|"constant"|"reflect"|"symmetric"|nil default 0
---@return Tensor
function gb.pad(x, paddings, value) end

--- Zeros of `shape` with each value added at its place. The last dimension of the indices (from 0) has a number for
--- each of the first dimensions of the shape. A place that does not exist is an error; on a GPU its value is left out.
---
--- ```lua
--- local gb = require "gpubench"
--- local places = gb.tensor({ { 1 }, { 1 } }, { dtype = "int64" })
--- assert(gb.scatter(places, gb.tensor { 2, 3 }, { 4 }):to_table()[2] == 5)
--- ```
---@param indices Tensor integers
---@param values Tensor floating-point
---@param shape integer[]
---@return Tensor
function gb.scatter(indices, values, shape) end

--- The sum of products that an equation names: a letter for each dimension, `...` for those that have none. Letters
--- that the result lacks are summed. Pairs of operands are computed from left to right, as one batched matrix product
--- each; a letter twice in one operand (a diagonal) is an error.
---
--- ```lua
--- local gb = require "gpubench"
--- local q, k = gb.ones { 2, 5, 4, 8 }, gb.ones { 2, 7, 4, 8 }
--- local scores = gb.einsum("bqhd,bkhd->bhqk", q, k)
--- assert(scores.shape[3] == 5 and scores.shape[4] == 7 and scores[1][1][1][1]:item() == 8)
--- ```
---@param subscripts string
---@param ... Tensor
---@return Tensor
function gb.einsum(subscripts, ...) end

--- 0, 1, ..., count - 1 as int64; or start, start + step, ... up to before stop, as float32 where one of these is no
--- integer.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.arange(4):sum():item() == 6 and gb.arange(10, 0, -4):to_table()[3] == 2)
--- ```
---@param start number the count where it stands alone
---@param stop number? not included; the first number unless given, which then starts at 0
---@param step number? default 1
---@return Tensor
function gb.arange(start, stop, step) end

--- Numbers at equal distances, as float32.
---@param start number
---@param stop number
---@param count integer? 50 unless given
---@param endpoint boolean? whether `stop` is the last of them; true unless given
---@return Tensor
function gb.linspace(start, stop, count, endpoint) end

--- A matrix with 1 on a diagonal and 0 elsewhere, as float32.
---@param rows integer
---@param columns integer? as many as rows unless given
---@param diagonal integer? how far above the main diagonal it lies; default 0
---@return Tensor
function gb.eye(rows, columns, diagonal) end

return gb
