-- Figures of a row with their 95 % intervals, and comparisons that respect them. Points that were measured in rounds
-- are compared round by round: what changes on the machine from one round to the next cannot pass for a difference.
local gb = require "gpubench.native"
local columns = require "gpubench.columns"
local doubts = require "gpubench.expect.doubts"
local native = gb._native

local estimate = {}

-- A difference is told where the whole interval lies beyond this share.
estimate.noise = 0.01

-- By row: { rounds = { { row, counts = whether its times do }, ... }, busy = whether other programs disturbed one }.
local rounds_of = setmetatable({}, { __mode = "k" })

function estimate.set_rounds(row, measured)
  rounds_of[row] = measured
end

-- For functions of the script, which may change it.
function estimate.copy(row)
  local copy = {}
  for name, cell in pairs(row) do copy[name] = cell end
  rounds_of[copy] = rounds_of[row]
  return copy
end

local function is_number(value)
  return type(value) == "number" and value == value and value ~= math.huge and value ~= -math.huge
end

-- "loss is NaN"; nil where the row's figure is a number, or is none at all.
function estimate.not_a_number(row, column)
  return type(row[column]) == "number" and native.results.not_numbers { [column] = row[column] } or nil
end

-- of: number of a round -> value.
local function of_rounds(of)
  local values = {}
  for _, value in pairs(of) do values[#values + 1] = value end
  local one = #values > 0 and native.statistics.estimate(values) or nil
  if not one or not one.low then return nil end
  one.rounds = of
  return one
end

local function figures_by_round(row, column)
  local of, is_disturbed = {}, columns.is_disturbed(column)
  for round, one in pairs(rounds_of[row] and rounds_of[row].rounds or {}) do
    if (one.counts or not is_disturbed) and is_number(one.row[column]) then of[round] = one.row[column] end
  end
  return of
end

-- { value, low, high, rounds }, or nil when the row has no such figure. Without rounds the interval is the row's own; a
-- figure that has none is its own interval, which doubt() allows for exact ones alone.
function estimate.of(row, column)
  local value = row[column]
  if not is_number(value) then return nil end
  local one = of_rounds(figures_by_round(row, column))
  if one then return one end
  local low, high = row[native.results.interval_end(column, "low")], row[native.results.interval_end(column, "high")]
  if not is_number(low) or not is_number(high) then low, high = value, value end
  return { value = value, low = low, high = high }
end

local function has_interval(row, column)
  if of_rounds(figures_by_round(row, column)) then return true end
  return is_number(row[native.results.interval_end(column, "low")])
    and is_number(row[native.results.interval_end(column, "high")])
end

-- Kinds of which one figure is no evidence.
local alone = {
  time = { kind = "measured_once", text = "it was measured once, which tells nothing of its scatter" },
  sensor = { kind = "measured_once", text = "it was read once, which tells nothing of its scatter" },
  learned = { kind = "trained_once",
    text = "one training, which tells nothing of another seed's; give the experiment 'trials'" },
}

-- Why a claim may not rely on the row's figure, { kind, text }; nil where it may. Each kind of figure has its own
-- reasons: noise says nothing about bytes, and a busy machine nothing about an accuracy.
function estimate.doubt(row, column)
  local kind = columns.of(column).kind
  local quality = native.results.quality_column(kind)
  local doubt = quality and doubts.in_row(row, quality)
  if doubt then return doubt end
  if alone[kind] and not has_interval(row, column) then
    return doubts.of(alone[kind].kind, column .. ": " .. alone[kind].text)
  end
end

-- Whether other programs disturbed any of the row's rounds.
function estimate.is_busy(row)
  return rounds_of[row] ~= nil and rounds_of[row].busy == true
end

local function paired(a, b, combine)
  if not a.rounds or not b.rounds then return nil end
  local of = {}
  for round, value in pairs(a.rounds) do
    if b.rounds[round] then of[round] = combine(value, b.rounds[round]) end
  end
  return of_rounds(of)
end

-- Both figures are positive, as times, rates and bytes are.
function estimate.ratio(a, b)
  return paired(a, b, function(x, y) return x / y end)
    or { value = a.value / b.value, low = a.low / b.high, high = a.high / b.low }
end

-- Of floats: integers wrap around.
local function minus(x, y)
  return x + 0.0 - y
end

function estimate.difference(a, b)
  return paired(a, b, minus)
    or { value = minus(a.value, b.value), low = minus(a.low, b.high), high = minus(a.high, b.low) }
end

function estimate.size(one)
  return math.abs(one.value + 0.0)
end

local shown = {
  ["s"] = function(value) return gb.format.seconds(value) end,
  ["bytes"] = function(value) return gb.format.bytes(value) end,
  ["bytes/s"] = function(value) return gb.format.bytes(value) .. "/s" end,
  ["1/s"] = function(value) return gb.format.si(value) .. "/s" end,
  ["FLOP"] = function(value) return gb.format.si(value) .. "FLOP" end,
  ["FLOP/s"] = function(value) return gb.format.si(value) .. "FLOP/s" end,
  ["share"] = function(value) return string.format("%.3g %%", 100 * value) end,
}

-- As tables have it, with its unit.
function estimate.show(column, value)
  local show = shown[columns.of(column).unit]
  return show and show(value) or string.format("%.4g", value)
end

function estimate.show_interval(column, one)
  if one.low == one.high then return estimate.show(column, one.value) end
  return string.format("%s [%s, %s]", estimate.show(column, one.value), estimate.show(column, one.low),
    estimate.show(column, one.high))
end

return estimate
