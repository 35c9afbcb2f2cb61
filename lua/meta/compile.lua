---@meta
-- Hand-written training loops: gradients of what was computed, and functions traced once into a plan.

--- Records the ops applied to tensors from its making to gradient(), stop() or the end of its scope.
---@class Tape
local Tape = {}

--- d target / d source for each source (for one Tensor: one gradient); `false` where the target does not depend on it.
--- `target` must be a floating-point scalar. Ends the recording.
---@param target Tensor
---@param sources Tensor|Tensor[]
---@return Tensor|false|(Tensor|false)[]
function Tape:gradient(target, sources) end

--- Ends the recording.
function Tape:stop() end

--- A function that was traced: calls run its plan and no Lua. One plan per types of the arguments.
---@class CompiledFunction
---@field traces integer how many plans it has
---@overload fun(...: Tensor): Tensor ...
local CompiledFunction = {}

---@class gpubench
local gb = {}

--- Without an argument, a tape that records from now on. With a function, records while it runs and returns what it
--- returns. Tapes may be nested: an outer one records the gradients that an inner one computes. An op without a rule
--- for its gradient is an error where a gradient depends on it, and so is a variable that was written since it was
--- read, where a gradient needs its value. Rounding, comparisons and casts to integers are constant.
---
--- ```lua
--- local gb = require "gpubench"
--- local x = gb.Variable(3)
--- local tape <close> = gb.tape()
--- local y = x * x
--- assert(tape:gradient(y, x):item() == 6)
--- ```
---@overload fun(): Tape
---@generic R
---@param fn fun(tape: Tape): R
---@return R
function gb.tape(fn) end

---@class CompileFunctionOptions
---@field passes table<string, boolean>? passes to switch off, such as { fuse_epilogue = false }. They change rounding,
--- but for fuse_softmax_cross_entropy: it has the exact gradient where a softmax saturates, which clipped
--- probabilities, as of eager execution, lose; all are on unless given

--- Traces `fn` once per types of its arguments into a planned graph. Arguments and results are tensors; everything else
--- that `fn` uses is taken as it is when it is traced. Random numbers are drawn anew in each call; the same seed of
--- gb.config.set_seed gives the same ones again.
---
--- ```lua
--- local gb = require "gpubench"
--- local square_sum = gb.compile(function(x) return (x * x):sum() end)
--- assert(square_sum(gb.tensor { 1, 2, 3 }):item() == 14)
--- assert(square_sum.traces == 1)
--- ```
---@param fn function
---@param options CompileFunctionOptions?
---@return CompiledFunction
function gb.compile(fn, options) end

return gb
