---@meta
-- Tensors: arithmetic, slicing, reductions and conversion. Every function works eagerly, inside gb.compile and dataset
-- maps (where it becomes a node of a graph), and under gb.tape.

--- A tensor on one device, or a value of a function that is being traced.
---
--- `+ - * / ^` and unary `-` work element by element with NumPy's broadcasting; a plain number takes the tensor's
--- dtype. `//` rounds down and `%` is what it leaves, as in Lua; integers divided by 0 give 0.
--- Comparisons are methods, because Lua's `<` and `==` must give a boolean: `a:lt(b)`. In functions that are traced
--- (gb.compile, dataset maps) `if` cannot ask for a tensor's value: use gb.where. A comparison that no result depends
--- on is an error there, since it was most likely meant to decide a branch.
--- Indexing counts from 1 and includes both ends, as Lua does: `x[3]` is the third row, `x[{1, 8}]` are the first eight
--- rows, `x[{{}, {2, 5}}]` columns 2 to 5, `x[{{}, 2}]` column 2 without its dimension, and -1 is the last. A range may
--- end behind the last row, where it is cut, but not begin there. A value of a model takes `x[{{}, ...}]`: its batch
--- stays whole. `x[#x + 1]` is nil, so that `ipairs(x)` gives all rows. Axes count from 0, as in Keras.
---
--- `x[3] = row` and `x[{1, 8}] = rows` change the tensor (a number fills the rows). Tensors and datasets made from it
--- before, such as `x:reshape {...}`, keep the earlier values. Under a tape and in traced functions rows cannot be
--- assigned, since that has no gradient.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
--- assert(x[2][3]:item() == 6)
--- assert((x * 2):sum():item() == 42)
--- assert(#x[{ 1, 1 }] == 1 and #x[{ 2, 9 }] == 1)
--- assert(x[{ {}, 2 }]:sum():item() == 7 and #x[{ {}, 2 }].shape == 1)
--- for i, row in ipairs(x) do x[i] = row:sqrt() end
--- assert(x[1][1]:item() == 1 and x[2][1]:item() == 2)
--- ```
---@class Tensor
---@field shape integer[] extents; {} of a scalar
---@field dtype string "float32", "int64", "bool", ...
---@field device string "cpu:0"
---@field rank integer number of dimensions
---@field name string? a variable's name; nil for other tensors
---@operator add(Tensor|number): Tensor
---@operator sub(Tensor|number): Tensor
---@operator mul(Tensor|number): Tensor
---@operator div(Tensor|number): Tensor
---@operator pow(Tensor|number): Tensor
---@operator idiv(Tensor|number): Tensor
---@operator mod(Tensor|number): Tensor
---@operator unm: Tensor
---@operator len: integer
local Tensor = {}

--- The only element as a number (or boolean). Waits for the device.
---@return number|boolean
function Tensor:item() end

--- All elements as nested tables; a scalar as a number. Waits for the device.
---@return table|number|boolean
function Tensor:to_table() end

--- The same values on another device; the tensor itself when it is there already.
---@param device string
---@return Tensor
function Tensor:to(device) end

--- A copy in page-locked memory of the host, from which a GPU copies at the full rate of its link. An error where there
--- is no GPU and none is emulated, and for tensors in a GPU's memory.
---@return Tensor
function Tensor:pin_memory() end

--- The same elements under another shape; one extent may be -1.
---@param shape integer[]
---@return Tensor
function Tensor:reshape(shape) end

--- Dimension i of the result is dimension permutation[i] (from 0); without one, the dimensions are reversed.
---@param permutation integer[]? from 0; all reversed unless given
---@return Tensor
function Tensor:transpose(permutation) end

--- Rows `first` to `last`, both included, counted from 1; the same as `x[{first, last}]`.
---@param first integer
---@param last integer
---@return Tensor
function Tensor:rows(first, last) end

--- The same numbers in another type: floating-point to integers towards zero, to "bool" whether they are not 0.
--- gb.image.cast scales pixels instead.
---@param dtype string
---@return Tensor
function Tensor:cast(dtype) end

--- Class indices (from 0) as rows with a single 1. An index out of range is an error.
---
--- ```lua
--- local gb = require "gpubench"
--- local labels = gb.tensor({ 0, 2 }, { dtype = "int64" })
--- assert(labels:one_hot(3)[2][3]:item() == 1)
--- ```
---@param depth integer
---@param dtype string? default "float32"
---@return Tensor
function Tensor:one_hot(depth, dtype) end

--- Rows by number (from 0), or what lies at these places of another axis: x:gather { 2, 0 }.
---@param indices Tensor|integer|table
---@param axis integer? default 0
---@return Tensor
function Tensor:gather(indices, axis) end

--- A new dimension of 1 at `axis`; -1 is behind the last.
---@param axis integer
---@return Tensor
function Tensor:expand_dims(axis) end

--- Without the dimensions of 1, or without these.
---@param axis integer|integer[]|nil from 0, -1 is the last; all of extent 1 unless given
---@return Tensor
function Tensor:squeeze(axis) end

--- In the reverse order along these axes (all).
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.arange(3):reverse():to_table()[1] == 2)
--- ```
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@return Tensor
function Tensor:reverse(axis) end

--- Repeated so many times along each dimension.
---@param multiples integer[] one for each dimension
---@return Tensor
function Tensor:tile(multiples) end

--- Matrix product; leading dimensions are a batch and broadcast.
---@param other Tensor
---@return Tensor
function Tensor:matmul(other) end

--- The sum of all elements, or along axes.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:sum(axis, keepdims) end

--- The mean of all elements, or along axes. Integers are an error: cast them before.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:mean(axis, keepdims) end

--- The largest of all elements, or along axes; equal ones share the gradient.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:max(axis, keepdims) end

--- The smallest of all elements, or along axes; equal ones share the gradient.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:min(axis, keepdims) end

--- Running sums along an axis: element i of the result is the sum of the elements up to i.
---@param axis integer? default 0
---@param reverse boolean? from i to the last instead; default false
---@return Tensor
function Tensor:cumsum(axis, reverse) end

--- Index (from 0) of the largest element along an axis, the first among equals, as int64.
---@param axis integer? default -1
---@return Tensor
function Tensor:argmax(axis) end

--- Index (from 0) of the smallest element along an axis, the first among equals, as int64.
---@param axis integer? default -1
---@return Tensor
function Tensor:argmin(axis) end

--- Whether any of these bools is true.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:any(axis, keepdims) end

--- Whether all of these bools are true.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:all(axis, keepdims) end

--- The mean of squared differences from the mean.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:variance(axis, keepdims) end

--- The square root of the variance.
---@param axis integer|integer[]|nil from 0, -1 is the last; all axes unless given
---@param keepdims boolean? whether they stay as extents of 1; false unless given
---@return Tensor
function Tensor:std(axis, keepdims) end

--- The magnitude of each element.
---@return Tensor
function Tensor:abs() end

--- -1, 0 or 1. Like floor, ceil and round it has no gradient: that of a tape is false (TensorFlow has 0 for this one).
---@return Tensor
function Tensor:sign() end

--- x * x of each element.
---@return Tensor
function Tensor:square() end

--- The square root of each element; of a negative one not a number. Its gradient at 0 is infinite, and not a number
--- where the gradient of the root is 0 (TensorFlow: 0).
---@return Tensor
function Tensor:sqrt() end

--- 1 / sqrt(x) of each element.
---@return Tensor
function Tensor:rsqrt() end

--- e ^ x of each element.
---@return Tensor
function Tensor:exp() end

--- The natural logarithm of each element.
---@return Tensor
function Tensor:log() end

--- Each element rounded down, in its own type.
---@return Tensor
function Tensor:floor() end

--- Each element rounded up, in its own type.
---@return Tensor
function Tensor:ceil() end

--- To the nearest whole number, halves to the even one.
---@return Tensor
function Tensor:round() end

--- At least `low` and at most `high`.
---@param low Tensor|number
---@param high Tensor|number
---@return Tensor
function Tensor:clip(low, high) end

--- Where it is not a number: a missing value of a CSV file, say.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.tensor { 1, 0 / 0 }
--- assert(gb.where(x:is_nan(), 0, x):sum():item() == 1)
--- ```
---@return Tensor
function Tensor:is_nan() end

--- The larger of x and 0.
---@return Tensor
function Tensor:relu() end

--- 1 / (1 + exp(-x)) of each element.
---@return Tensor
function Tensor:sigmoid() end

--- The hyperbolic tangent of each element.
---@return Tensor
function Tensor:tanh() end

--- The error function.
---@return Tensor
function Tensor:erf() end

--- x * sigmoid(x), also known as swish.
---@return Tensor
function Tensor:silu() end

--- By the normal distribution, or approximated by tanh, as in Keras.
---@param approximate boolean? false unless given
---@return Tensor
function Tensor:gelu(approximate) end

--- Over the last dimension.
---@return Tensor
function Tensor:softmax() end

--- Over the last dimension.
---@return Tensor
function Tensor:log_softmax() end

--- Whether elements are equal, as bools.
---@param other Tensor|number
---@return Tensor
function Tensor:eq(other) end

--- Whether elements differ, as bools.
---@param other Tensor|number
---@return Tensor
function Tensor:ne(other) end

--- Whether elements are less than the other's, as bools.
---@param other Tensor|number
---@return Tensor
function Tensor:lt(other) end

--- Whether elements are at most the other's, as bools.
---@param other Tensor|number
---@return Tensor
function Tensor:le(other) end

--- Whether elements are greater than the other's, as bools.
---@param other Tensor|number
---@return Tensor
function Tensor:gt(other) end

--- Whether elements are at least the other's, as bools.
---@param other Tensor|number
---@return Tensor
function Tensor:ge(other) end

--- Whether both bools are true, element by element.
---@param other Tensor
---@return Tensor
function Tensor:logical_and(other) end

--- Whether one of both bools is true, element by element.
---@param other Tensor
---@return Tensor
function Tensor:logical_or(other) end

--- The opposite of each bool.
---@return Tensor
function Tensor:logical_not() end

--- The larger of both, element by element; not a number where one of them is not.
---@param other Tensor|number
---@return Tensor
function Tensor:maximum(other) end

--- The smaller of both, element by element; not a number where one of them is not.
---@param other Tensor|number
---@return Tensor
function Tensor:minimum(other) end

--- Sets a variable; inside gb.compile, whenever the compiled function runs.
---@param value Tensor|number|table
---@return Tensor self
function Tensor:assign(value) end

--- Adds to a variable; inside gb.compile, whenever the compiled function runs.
---@param value Tensor|number|table
---@return Tensor self
function Tensor:assign_add(value) end

return Tensor
