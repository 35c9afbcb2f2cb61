# Any cell in any standard column: what its column does not take is refused when the row is added, by its name, and costs
# only this row. All others are kept, judged and reported, and no text of the library's source is shown.
limit_s=280
cat >odd.lua <<'S'
return {
  5, 0.5, -1, 1e308, -1e308, 0 / 0, 1 / 0, -1 / 0, math.maxinteger, math.mininteger, true, false, "", "x", "12", "nan", "true",
  "ok", "unreliable: noise", "a\27[31m\0\n", ("long "):rep(20000), "%s %d {x} %1", {}, { 1 }, function() end,
}
S
cat >first.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "first", title = "t", run = function() return { v = 1 } end }
S
run first.lua --out first
((rc == 0)) || fail "first: status $rc: $err"
columns=$(head -1 first/results/first/*/results.csv | tr -d '\r' | sed 's/^experiment,point,process,//; s/,point_time_s//; s/,v$//')
[[ $columns == *,quality,* && $columns == *,steps,* ]] || fail "no columns in '$columns'"

# An experiment for each column, with claims and charts of every kind about it.
cat >cells.lua <<'S'
local gb = require "gpubench"
local odd = require "odd"
local E = gb.expect
local points = {}
for index in ipairs(odd) do points[index] = index end

local function claims(y)
  local below, above = { i = 1 }, { i = 2 }
  return {
    E.increasing { x = "i", y = y }, E.decreasing { x = "i", y = y, tolerance = 0.1 }, E.increasing { x = "i", y = y, until_knee = true },
    E.knee { x = "i", y = y }, E.equal { x = "i", y = y, tolerance = 0.1 }, E.agree { y = y, with = "v" },
    E.best { x = "i", y = y, value = 1, tolerance = 0.1, better = "lower" }, E.at_least { y = y, value = 0 }, E.at_most { y = y, value = 1 },
    E.ratio { y = y, of = below, over = above, at_least = 1 }, E.faster { y = y, axis = "i", value = 1, than = 2, better = "lower" },
    E.increasing { x = y, y = "v" }, E.knee { x = y, y = "v" }, E.increasing { x = y, y = "v", from = 0, to = 10 },
    E.that { claim = "all of " .. y, reads = { y }, judge = function(rows)
      for _, row in ipairs(rows) do gb.expect.figure(row, y) gb.expect.compare(row, rows[1], y) end
      return "confirmed", "so", "It holds."
    end },
  }
end

for column in os.getenv("COLUMNS_OF_ROWS"):gmatch "[^,]+" do
  gb.experiment {
    name = column, title = "t", axes = { gb.axis("i", points) }, columns = { column }, trials = 6, expect = claims(column),
    charts = { gb.chart.line { x = "i", y = column }, gb.chart.bar { x = column, y = "v", name = "over" } },
    answer = function(rows) return "There are " .. #rows .. " rows." end,
    run = function(p) return { v = p.i, [column] = odd[p.i] } end,
  }
end
print "goes on"
S
COLUMNS_OF_ROWS=$columns run cells.lua --out o --budget 0.01
((rc == 2)) || fail "status $rc: ${out:0:300} $err"
contains "$out" 'goes on'
for column in ${columns//,/ }; do
  folder=$(echo o/results/"$column"/*)
  [[ $(grep -a -c "^$column,[0-9]" "$folder/results.csv") == 25 ]] || fail "$column: not all rows are there"
  [[ -s $folder/report.html ]] || fail "$column: no report"
  refused=$(grep -a -c ",error,\"\?cells.lua:[0-9]*: run returned" "$folder/results.csv") || fail "$column: nothing was refused"
  ((refused < 25)) || fail "$column: everything was refused"
  [[ $column == status ]] || contains "$err" "in the column '$column', which takes" "$column"
done
all=$(cat "$work/out" "$work/err" o/results/*/*/run.json o/results/*/*/results.csv | tr -d '\0')
lacks "$all" 'attempt to'
[[ ! $all =~ gpubench/[a-z_/]*\.lua ]] || fail "'${BASH_REMATCH[0]}' in what it says"
