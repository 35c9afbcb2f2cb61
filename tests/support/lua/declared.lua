-- Experiments' declarations, and single points of them, run apart from a sweep.
local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local columns = require "gpubench.columns"
local estimate = require "gpubench.expect.estimate"
local measurement = require "gpubench.sweep.measurement"
local param = require "gpubench.param"

local native = gb._native

local declared = {}

-- A table's functions replaced while a body runs.
function declared.with(owner, replaced, body)
  local own = {}
  for name, value in pairs(replaced) do own[name], owner[name] = owner[name], value end
  local ok, result = pcall(body)
  for name, value in pairs(own) do owner[name] = value end
  if not ok then error(result, 0) end
  return result
end

-- What experiments/<name>.lua gives to gb.experiment, with `set` as of `--set`: { model = { "lstm_text" } }.
function declared.of(name, set)
  local declaration
  declared.with(gb, { experiment = function(one) declaration = one end }, function()
    declared.with(native.options, { axes = set or native.options.axes }, function()
      declared.with(param, { values = {} }, function() dofile("experiments/" .. name .. ".lua") end)
    end)
  end)
  return declaration
end

-- The rows of a point, with its values in them.
function declared.rows_of(declaration, point)
  native.reset_devices()
  local rows = measurement.measure(declaration, {}, point, native.options.seed).call:rows()
  for _, row in ipairs(rows) do
    for name, value in pairs(point) do row[name] = value end
  end
  return rows
end

function declared.row_of(declaration, point)
  return declared.rows_of(declaration, point)[1]
end

-- What the claims say of rows whose figures were the same in six rounds, or were those of row.calls.
function declared.judge(declaration, rows, axes)
  columns.declare(columns.read("declared", declaration.columns or {}))
  for _, row in ipairs(rows) do
    local rounds = {}
    for round, one in ipairs(row.calls or { row, row, row, row, row, row }) do
      rounds[round] = { row = one, counts = true }
    end
    estimate.set_rounds(row, { rounds = rounds })
  end
  return claims.judge_all(declaration.expect, rows, axes or declaration.axes)
end

-- The verdicts alone, in the order of the claims.
function declared.verdicts(declaration, rows, axes)
  local list = {}
  for index, one in ipairs(declared.judge(declaration, rows, axes)) do list[index] = one.verdict end
  return list
end

function declared.repeated(value, times)
  local list = {}
  for index = 1, times do list[index] = value end
  return list
end

return declared
