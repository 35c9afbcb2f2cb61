# Random rows of own columns, whose cells are of any type in any row, with claims and charts of every kind about them:
# the run ends well, every row is in its files, and no text of the library's source is shown.
cat >cells.lua <<'S'
local gb = require "gpubench"
local E = gb.expect
math.randomseed(math.tointeger(os.getenv "SEED"))
local function any(list) return list[math.random(#list)] end

local cells = {
  1, 2, 3, 0, -1, 0.5, 1e308, -1e308, 5e-324, 0 / 0, 1 / 0, -1 / 0, math.maxinteger, math.mininteger, true, false, "", "x", "1", "nan",
  "true", "ok", "a\27[31m\0\n", ("long "):rep(2000), "%s %d {x} %1", "=1+1", "skipped",
}
local names = {
  "v", "w_s", "__index", "__len", "__gc", "rows", "n", "self", "format", "a.b", "x-y", "row", "size_bytes", "hit_share", "v_low", "v_high",
  "own_accuracy", "of", "row_s", "latency_s", "shape", "last_rank", "_", "end_", "loss_of_mine",
}
local axes = {
  gb.axis("i", { 1, 2, 3 }), gb.axis("m", any { { 1, "1", true }, { "a", 2.5, false }, { "x" }, { 1e308, -1e308 } }),
}
local ms = axes[2].values

-- Columns by whose cells rows may be chosen, and figures.
local chosen, figures = {}, {}
for _ = 1, 4 do chosen[#chosen + 1] = any(names) end
for _ = 1, 6 do figures[#figures + 1] = any(names) end
local function x() return any { "i", "i", "m", any(chosen) } end
local function y() return any(figures) end
local function wanted() return { [any { "m", any(chosen) }] = any { any(ms), any(cells), 1 } } end
local function maybe(value) if math.random(3) == 1 then return value end end

local made = {
  function() return E.increasing { x = x(), y = y(), tolerance = maybe(0.1), from = maybe(0), to = maybe(2), where = maybe(wanted()) } end,
  function() return E.decreasing { x = x(), y = y(), of = wanted(), over = wanted() } end,
  function() return E.increasing { x = x(), y = y(), until_knee = true } end,
  function() return E.knee { x = x(), y = y(), share = maybe(0.5), answer = "{x} {first} {times} {more} {of}" } end,
  function() return E.equal { x = x(), y = y(), tolerance = any { 0, 0.5, 1e308 }, answer = "{of}" } end,
  function() return E.best { x = "m", y = y(), value = any(ms), tolerance = 0.1, better = any { "lower", "higher" }, answer = "{x} {share}" } end,
  function() return E.agree { y = y(), with = y(), tolerance = maybe(0.1) } end,
  function() return E.at_least { y = y(), value = any { 0, -1e308, 1e308 }, by = { "m" }, answer = "{least} {most}" } end,
  function() return E.at_most { y = y(), value = 0, where = wanted() } end,
  function() return E.ratio { y = y(), of = wanted(), over = wanted(), at_least = 0.5, answer = "{times} {less} {inverse_times}" } end,
  function() return E.crossover { x = x(), y = y(), of = wanted(), over = wanted() } end,
  function() return E.faster { y = y(), axis = "m", value = any(ms), than = any(ms), better = "lower" } end,
  function()
    local a, b = y(), y()
    return E.that { claim = "c", reads = { a, b }, where = maybe(wanted()), judge = function(rows)
      local first = rows[1]
      for _, row in ipairs(rows) do
        gb.expect.figure(row, a) gb.expect.compare(row, first, b)
        for name in pairs(row) do row[name] = any { {}, 5, "x", true } end
      end
      return any { "confirmed", "refuted", "inconclusive", "not measurable here" }, any { "why", nil }
    end }
  end,
}
local expect, charts = {}, {}
for index = 1, 20 do expect[index] = made[(index - 1) % #made + 1]() end
local kinds = {
  function() return { x = x(), y = y(), series = maybe "m", log_x = maybe(true), log_y = maybe(2) } end,
  function() return { x = x(), y = y(), limit = maybe(1e308), order = maybe(y()) } end,
  function() return { x = x(), y = y(), series = "m" } end,
}
for index, kind in ipairs { "line", "bar", "heat" } do
  charts[index] = gb.chart[kind](kinds[index]())
  charts[index].name = kind
end
charts[4], charts[5] = gb.chart.distribution {}, gb.chart.course {}

local function row()
  local made_row = { samples = maybe { 0.1, 0.2, 1e-9, 1e300 } }
  for _, name in ipairs(names) do
    if math.random(3) > 1 then made_row[name] = math.random(2) == 1 and math.random() * 10 or any(cells) end
  end
  return made_row
end
local count = any { 1, 1, 2 }
gb.experiment {
  name = "cells", title = "t", axes = axes, columns = names, expect = expect, charts = charts, trials = maybe(6),
  run = function()
    local list = {}
    for index = 1, count do list[index] = row() end
    return list
  end,
}
print("expected", 3 * #ms * count)
S
seeds=8 all_names=
for ((seed = 1; seed <= seeds; ++seed)); do
  SEED=$seed run cells.lua --out o$seed --budget 0.01
  ((rc <= 1)) || fail "seed $seed: status $rc: ${out:0:500} $err"
  rows=$(echo o$seed/results/cells/*/results.csv)
  expected=$(grep -a -o 'expected.[0-9]*' "$work/out" | tr -dc 0-9)
  [[ $(grep -a -c '^cells,[0-9]' "$rows") == "$expected" ]] || fail "seed $seed: not all of $expected rows are there"
  [[ -s $(dirname "$rows")/report.html ]] || fail "seed $seed: no report"
  all=$(cat "$work/out" "$work/err" "$(dirname "$rows")/run.json" "$rows" | tr -d '\0')
  lacks "$all" 'attempt to' "seed $seed"
  [[ ! $all =~ gpubench/[a-z_/]*\.lua ]] || fail "seed $seed: '${BASH_REMATCH[0]}' in what it says"
done
