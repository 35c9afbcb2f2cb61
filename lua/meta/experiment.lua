---@meta gpubench
-- Experiments: a question, the axes to sweep over, what to measure at each point, and the claims that should hold.

---@class gpubench
---@field version string of the program, as --version says it
---@field quick boolean whether --quick was given: measure less, train less
local gb = {}

---@type string
gb.version = ""

---@type boolean
gb.quick = false

--- What gb.axis returns.
---@class Axis
---@field name string also the field of `point` and the column
---@field values (number|string|boolean)[] in the order in which the sweep takes them

---@class AxisOptions
---@field closed boolean? --set may choose among the axis' own values and give no others (false)
---@field accepts? fun(value: number|string|boolean): boolean, string whether --set may give a value, and what it may
--- give, in words, for the error; any value unless given

--- An axis of a sweep. Its values are gone through in this order; `--set NAME=VALUE,...` replaces them, with ranges of
--- numbers: 1..8, 1..1024*2, 0..1+0.25. An axis named like
--- a standard column fills that column. What a script cannot serve should be refused before anything is measured: a
--- list of ways is closed, a range of numbers has a function that accepts them.
---
--- ```lua
--- local gb = require "gpubench"
--- local batch = gb.axis("batch_size", { 1, 32, 256 })
--- assert(batch.values[3] == 256)
--- local place = gb.axis("place", { "host", "device" }, { closed = true })
--- local depth = gb.axis("depth", { 1, 4 }, {
---   accepts = function(value) return math.type(value) == "integer" and value > 0, "whole numbers from 1" end,
--- })
--- ```
---@param name string letters, digits and "_"
---@param values (number|string|boolean)[]
---@param options AxisOptions?
---@return Axis
function gb.axis(name, values, options) end

--- A number, text or flag of the script that `--set NAME=VALUE` may replace. run.json has it in `params`.
---
--- ```lua
--- local gb = require "gpubench"
--- local epochs = gb.param("epochs", 5)
--- assert(epochs == 5)
--- ```
---@generic T
---@param name string letters, digits and "_"; no axis may have it
---@param default T
---@param options AxisOptions?
---@return T
function gb.param(name, default, options) end

--- What `make()` returned when it was called first with this key: for what all rounds and points of a script share,
--- such as a trained model or a reference. The points of a claim are measured in as many rounds as fit into their time
--- (docs/claims.md), and what is made once does not count there. After an error the next call
--- makes it anew.
---
--- ```lua
--- local gb = require "gpubench"
--- local calls = 0
--- local function reference() calls = calls + 1 return calls * 10 end
--- assert(gb.once("reference", reference) == 10 and gb.once("reference", reference) == 10 and calls == 1)
--- ```
---@param key string of the script
---@param make fun(): ...
---@return any ... what make() returned
function gb.once(key, make) end

--- What was traced.
---@class Timeline

--- What was measured at a point: the columns that the program fills (`gpubench help columns`), those of the script,
--- and what is not written into tables.
---@class Row
---@field samples number[]? step times in seconds
---@field timeline Timeline? what was traced, op by op
---@field profile Profile? the time of layers and ops
---@field ranks Rank[]? what each replica spends on what
---@field [string] any axes, and columns of the script

---@class ExperimentDeclaration
---@field name string names the folders below results/ and plots/; each experiment of a script needs its own
---@field title string one line, above tables and charts
---@field topic string? the group in `gpubench list`: feeding, launching, memory, precision, models, devices, scaling,
--- or another; "other" unless given
---@field needs string? what a machine must have for an answer, for `gpubench list --long`: "a GPU"; none unless given
---@field question string? what is asked; the report has it above its headline, the answer; none unless given
---@field cause string? why it costs time or memory; none unless given
---@field remedy string? what to do about it; none unless given
---@field reading string? how to read the charts; none unless given
---@field answer? fun(rows: Row[]): string|string[]|nil the answer in sentences, what to do first, in place of those of
--- the claims; nil leaves it to them; those of the claims unless given
---@field axes Axis[]? the last one varies fastest; a single point unless given
---@field run fun(point: table): Row|Row[] measures one point; `point` has a field for every axis. It is called several
--- times, each time with another seed, where a claim is about times or the experiment has trials
---@field skip? fun(point: table): string? a reason to leave the point out, or nil; none unless given
---@field seconds? fun(point: table, measurement_s: number): number about how long a call of `run` takes, where it is
--- not one measurement, which takes `measurement_s`; --dry-run expects it until a run has shown the real times; one
--- measurement unless given
---@field columns (string|Column)[]? columns beyond the standard ones, where known before the first row; none unless
--- given
---@field trials integer? how many times every point is measured, 6 to 1000: accuracies and losses then have an
--- interval; once unless given
---@field charts Chart[]? drawn into the report (none)
---@field expect Claim[]? claims that are judged when all points are measured (none)

--- Sweeps over the axes, writes the run, prints its table and verdicts, and returns the rows. A point that fails
--- becomes a row with its status and the sweep goes on. With --dry-run it measures nothing and returns an empty array.
---
--- ```lua
--- local gb = require "gpubench"
--- local rows = gb.experiment {
---   name = "sum_of_ones",
---   title = "A sum takes as long as its tensor is large",
---   axes = { gb.axis("size", { 10, 1000 }) },
---   run = function(point)
---     return { sum = gb.ones({ point.size }):sum():item() }
---   end,
---   expect = { gb.expect.increasing { x = "size", y = "sum" } },
--- }
--- assert(rows[2].sum == 1000)
--- ```
---@param declaration ExperimentDeclaration
---@return Row[]
function gb.experiment(declaration) end

--- What gb.column returns.
---@class Column

---@class ColumnOptions
---@field unit string? "s", "bytes", "1/s", "FLOP", "FLOP/s", "bytes/s", "share", "W", "J", "Hz" or ""; what the name's
--- ending says unless given
---@field better string? "lower" or "higher"; what the name's ending says unless given
---@field kind string? "time", "memory", "counted" (the same in every run of the same work), "learned" (depends on the
--- seed), "setting" (chosen, not measured) or "extent" (how much was measured); what the name's ending says unless
--- given
---@field threshold string? "3 %": smaller changes are the same in comparisons, also where these have a --threshold;
--- that of the comparison unless given

--- A column of a script whose name does not say what it is. Names ending in `_s`, `_per_s`, `_bytes`, `_share`,
--- `accuracy`, `loss` and the like say it.
---
--- ```lua
--- local gb = require "gpubench"
--- gb.experiment {
---   name = "parameters_of_a_layer", title = "Parameters grow with the width",
---   axes = { gb.axis("width", { 8, 16 }) },
---   columns = { gb.column("parameters", { kind = "counted" }) },
---   run = function(point)
---     return { parameters = gb.Sequential { gb.layers.Dense(point.width, { input_shape = { 4 } }) }:count_params() }
---   end,
---   expect = { gb.expect.increasing { x = "width", y = "parameters" } },
--- }
--- ```
---@param name string
---@param options ColumnOptions
---@return Column
function gb.column(name, options) end

--- Seconds on a clock that only runs forward, for differences.
---@return number
function gb.clock() end

--- Ends the point that is being measured: its row gets the status "skipped" and the reason.
---@param reason string
function gb.skip(reason) end

--- Numbers as people read them.
---@class gpubench.format
gb.format = {}

--- "1.5 MiB"
---@param bytes number
---@return string
function gb.format.bytes(bytes) end

--- "12.3 µs"
---@param seconds number
---@return string
function gb.format.seconds(seconds) end

--- "4.35 G": decimal prefixes; the caller adds the unit.
---@param value number
---@return string
function gb.format.si(value) end

--- "1 234 567", and with a noun "1 row" or "2 rows".
---@param count integer
---@param noun? string in the singular; none unless given
---@return string
function gb.format.count(count, noun) end

return gb
