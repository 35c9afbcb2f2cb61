---@meta
-- Expectations: documented claims that are judged on the rows of a run, with their 95 % intervals. Rows that differ in
-- any axis but x are judged apart, and the worst verdict counts:
--
-- - confirmed: it holds for every setting, beyond the intervals, on rows that are all there and sound.
-- - refuted: sound rows contradict it, beyond the intervals, in at least one setting.
-- - inconclusive: neither; the reason says whether intervals overlap, rows are unreliable, or a setting has no figure.
-- - not measurable here: no setting has the figure at all; the reason says why.
--
-- Rows that the script skipped are no part of a claim. Points whose times a claim compares are measured in rounds, side
-- by side. A busy machine says nothing about bytes, counts and accuracies: `quality` is about times, `memory_quality`
-- about memory, and an accuracy takes `trials`. `--strict` makes a refuted claim exit status 1.

---@class gpubench
local gb = {}

--- What a function of gb.expect returns.
---@class Claim

---@class ExpectOptions
---@field where table<string, number|string|boolean>? only rows with these values; all unless given
---@field claim string? text of the claim; made from the options when absent
---@field by string|string[]? axes that the text names; all axes but x keep rows apart in any case; none unless given
---@field id string? a name that stays when the text changes; made from the text when absent
---@field unmeasurable string? why nothing on this machine can decide the claim, such as "there is no GPU here": it is
--- then "not measurable here", whatever the rows say; none unless given
---@field answer string? what a reader takes home when the claim is confirmed: "Use a batch of {x} or more: {times} the
--- rate of batch {first}". The figures that each kind of claim fills in are in docs/claims.md; none unless given

---@class CourseOptions : ExpectOptions
---@field x string column, usually an axis
---@field y string column
---@field from number? smallest x to look at; the first unless given
---@field to number? largest x to look at; the last unless given
---@field tolerance number? share by which a step may fall; without it, every step must rise beyond the intervals
---@field of table<string, number|string|boolean>? with `over`, the figure is a ratio of two rows' `y`: values that
--- select the numerator's row; `y` itself unless given
---@field over table<string, number|string|boolean>? values that select the denominator's row; needed with `of`; none
--- unless given

---@class IncreasingOptions : CourseOptions
---@field until_knee boolean? look no further than the first x with 90 % of the best y; false unless given

--- Claims about the rows of a run, which are judged when all points are measured.
---@class gpubench.expect
gb.expect = {}

--- `y` rises with `x`.
---
--- ```lua
--- local gb = require "gpubench"
--- local claim = gb.expect.increasing { x = "batch_size", y = "examples_per_s", by = "device" }
--- assert(claim.text == "examples_per_s rises with batch_size for every device")
--- ```
---@param options IncreasingOptions
---@return Claim
function gb.expect.increasing(options) end

--- `y` falls with `x`.
---
--- ```lua
--- local gb = require "gpubench"
--- local claim = gb.expect.decreasing {
---   x = "width", y = "step_time_s", of = { execution = "eager" }, over = { execution = "graph" }, tolerance = 0.05,
--- }
--- assert(claim.text == "step_time_s of execution=eager over that of execution=graph falls with width")
--- ```
---@param options CourseOptions
---@return Claim
function gb.expect.decreasing(options) end

---@class KneeOptions : ExpectOptions
---@field x string column, usually an axis
---@field y string column of the figure
---@field share number? of the best `y` that counts as reached, 0.9 when absent

--- `y` reaches a share of its best before the last `x`; the reason names the knee.
---@param options KneeOptions
---@return Claim
function gb.expect.knee(options) end

---@class EqualOptions : ExpectOptions
---@field x string column, usually an axis
---@field y string column of the figure
---@field tolerance number share of the smallest `y`

--- `y` is the same for every `x`.
---@param options EqualOptions
---@return Claim
function gb.expect.equal(options) end

---@class BestOptions : ExpectOptions
---@field x string column, usually an axis
---@field y string column of the figure
---@field better string? "lower" or "higher", for a column of which neither its name nor gb.column says it; what the
--- column says unless given
---@field value number|string|boolean the value of x that comes close to the best
---@field tolerance number share of the best by which it may be worse

--- `y` at one value of `x` is close to that at every other value, or better.
---
--- ```lua
--- local gb = require "gpubench"
--- local claim = gb.expect.best { x = "workers", y = "examples_per_s", value = "autotune", tolerance = 0.05 }
--- assert(claim.text == "examples_per_s at workers=autotune is within 5 % of the best workers")
--- ```
---@param options BestOptions
---@return Claim
function gb.expect.best(options) end

---@class AgreeOptions : ExpectOptions
---@field y string column of the figure
---@field with string another column of the same row
---@field tolerance number? share of `with`; 0 when absent

--- In every row `y` equals another column.
---
--- ```lua
--- local gb = require "gpubench"
--- local claim = gb.expect.agree { y = "listed", with = "made_visible" }
--- assert(claim.text == "listed equals made_visible")
--- ```
---@param options AgreeOptions
---@return Claim
function gb.expect.agree(options) end

---@class BoundOptions : ExpectOptions
---@field y string column of the figure
---@field value number the bound, in the unit of `y`

--- `y` is at least `value` in every row. Charts of `y` show the bound as a line.
---@param options BoundOptions
---@return Claim
function gb.expect.at_least(options) end

--- `y` is at most `value` in every row. Charts of `y` show the bound as a line.
---@param options BoundOptions
---@return Claim
function gb.expect.at_most(options) end

---@class RatioOptions : ExpectOptions
---@field y string column of the figure
---@field of table<string, number|string|boolean> values that select the numerator's row
---@field over table<string, number|string|boolean> values that select the denominator's row
---@field at_least number? the least that the ratio may be; one of both bounds is needed, none unless given
---@field at_most number? the most that the ratio may be; none unless given

--- The ratio of two rows' `y` lies within bounds.
---
--- ```lua
--- local gb = require "gpubench"
--- local claim = gb.expect.ratio {
---   y = "examples_per_s", of = { batch_size = 256 }, over = { batch_size = 1 }, at_least = 4,
--- }
--- assert(claim.text == "examples_per_s of batch_size=256 is at least 4 times that of batch_size=1")
--- ```
---@param options RatioOptions
---@return Claim
function gb.expect.ratio(options) end

---@class CrossoverOptions : ExpectOptions
---@field x string column, usually an axis
---@field y string column of the figure
---@field of table<string, number|string|boolean> values that select the rows whose `y` is above at small x and below at
--- large x
---@field over table<string, number|string|boolean> values that select the rows that it crosses
---@field from number? smallest x to look at; the first unless given
---@field to number? largest x to look at; the last unless given

--- One course falls below another as `x` rises, once. The reason names the last `x` where it is surely above and the
--- first where it is surely below. Refuted where it is below from the start or crosses back; inconclusive where it
--- crosses nowhere in the range.
---
--- ```lua
--- local gb = require "gpubench"
--- local claim = gb.expect.crossover {
---   x = "width", y = "step_time_s", of = { device = "gpu:0" }, over = { device = "cpu:0" },
--- }
--- assert(claim.text == "step_time_s of device=gpu:0 falls below that of device=cpu:0 as width rises")
--- ```
---@param options CrossoverOptions
---@return Claim
function gb.expect.crossover(options) end

---@class FasterOptions : ExpectOptions
---@field axis string the axis whose values are compared
---@field value number|string|boolean the faster value of the axis
---@field than number|string|boolean the slower one
---@field y string column of the figure
---@field better string? "lower" or "higher", for a column of which neither its name nor gb.column says it; what the
--- column says unless given
---@field factor number? how many times faster at least; 1 when absent

--- One value of an axis is faster than another, everything else being equal.
---@param options FasterOptions
---@return Claim
function gb.expect.faster(options) end

---@class ThatOptions
---@field claim string the claim in words
---@field judge fun(rows: Row[]): string, string, string? verdict, reason and, if there is one, the answer
---@field reads string[]? columns that judge reads; if one is a time, the points are measured in rounds; none unless
--- given
---@field axes? string[] axes whose own values the claim is about: `--set` of one of them leaves the claim out; none
--- unless given
---@field where table<string, number|string|boolean>? only rows with these values, and rows that failed before they had
--- one; all unless given
---@field id string? as of the other claims; made from the text unless given
---@field unmeasurable string? as of the other claims; none unless given

--- A claim that only Lua can state. `judge` gets all rows and heeds their `status` itself; gb.expect.figure and
--- gb.expect.compare give figures with their intervals, where a claim may rely on them.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.expect.that {
---   claim = "there are rows",
---   judge = function(rows) return #rows > 0 and "confirmed" or "refuted", #rows .. " rows" end,
--- }
--- ```
---@param options ThatOptions
---@return Claim
function gb.expect.that(options) end

--- A figure of a row with its interval.
---@class Figure
---@field value number the median of the rounds
---@field low number lower end of the 95 % interval
---@field high number upper end of the 95 % interval

--- The figure of a row; nil and the reason where a claim may not rely on it, such as an unreliable row.
---
--- ```lua
--- local gb = require "gpubench"
--- local row = { status = "ok", step_time_s = 0.2, step_time_low_s = 0.1, step_time_high_s = 0.3 }
--- assert(gb.expect.figure(row, "step_time_s").high == 0.3)
--- local figure, why = gb.expect.figure({ status = "timeout", detail = "not done" }, "step_time_s")
--- assert(figure == nil and why == "a row without step_time_s: not done")
--- ```
---@param row Row
---@param column string
---@return Figure?, string?
function gb.expect.figure(row, column) end

--- How many times the figure of one row is that of another, round by round where both were measured in rounds; nil and
--- the reason where a claim may not rely on one of them.
---
--- ```lua
--- local gb = require "gpubench"
--- local slow = { status = "ok", step_time_s = 0.4, step_time_low_s = 0.3, step_time_high_s = 0.5 }
--- local fast = { status = "ok", step_time_s = 0.2, step_time_low_s = 0.1, step_time_high_s = 0.25 }
--- local ratio = gb.expect.compare(slow, fast, "step_time_s")
--- assert(ratio.value == 2 and ratio.high == 5)
--- ```
---@param of Row
---@param over Row
---@param column string
---@return Figure?, string?
function gb.expect.compare(of, over, column) end

return gb
