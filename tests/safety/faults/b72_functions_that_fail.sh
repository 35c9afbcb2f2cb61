# A function of the script that fails after rows were measured costs what it should have said, never a row or the report;
# the error is named.
limit_s=280
cat >failing.lua <<'S'
local gb = require "gpubench"
local fail = function() error "out of order" end
local odd = {
  error = fail, error_table = function() error({}) end, error_nil = function() error() end, deep = function(...) local function f() return f() + 1 end f() end,
  memory = function() error("out of order: " .. ("x"):rep(1 << 20)) end, number = function() return 5 end, nothing = function() end,
  tables = function() return {}, {}, {} end, yes = function() return true, true, true end, mixed = function() return "confirmed", 5, "x" end,
  sentence = function() return "confirmed", "why", 5 end, control = function() return "confirmed", "\27[31m\0", "\27[31m\0" end,
  unknown = function() return "maybe", "why" end, failing_index = function() return setmetatable({}, { __index = fail, __len = function() return 3 end }) end,
  failing_length = function() return setmetatable({ "x" }, { __len = fail }) end, many = function() return { "a", 5 } end,
  texts = function() return { "a", "%s {x} %1", "" } end, failing_text = function() return setmetatable({}, { __tostring = fail, __name = 5 }) end,
  spoiled = function(rows)
    for _, row in ipairs(rows) do for name in pairs(row) do row[name] = {} end end
    for index in ipairs(rows) do rows[index] = 5 end
    return "confirmed", "why"
  end,
}
for _, as in ipairs { "answer", "judge" } do
  for name, odd_function in pairs(odd) do
    local declaration = {
      name = as .. "-" .. name, title = "t", axes = { gb.axis("n", { 1, 2 }) }, charts = { gb.chart.line { x = "n", y = "v" } },
      run = function(p) return { v = p.n } end, expect = { gb.expect.increasing { x = "n", y = "v", tolerance = 0.1 } },
    }
    if as == "judge" then
      table.insert(declaration.expect, 1, gb.expect.that { claim = "c", judge = odd_function })
    else
      declaration.answer = odd_function
    end
    gb.experiment(declaration)
  end
end
print "goes on"
S
run failing.lua --out o --budget 0.01
((rc == 0)) || fail "status $rc: $err"
contains "$out" 'goes on'
count=0
for folder in o/results/*-*/*; do
  [[ $(grep -c '^[a-z_-]*,[12],0,.,ok' "$folder/results.csv") == 2 && -s $folder/report.html ]] || fail "$folder: rows or report are lost"
  ended_as done "$folder/run.json"
  count=$((count + 1))
done
((count == 38)) || fail "$count runs"
said=$(cat "$work/out" "$work/err" o/results/*-*/*/run.json | tr -d '\0')
lacks "$said" 'attempt to'
[[ ! $said =~ gpubench/[a-z_/]*\.lua ]] || fail "'${BASH_REMATCH[0]}' in what it says"
lacks "$out$err" $'\e'
contains "$err" "the function 'answer' failed: failing.lua:2: out of order"
contains "$out" 'judging failed: failing.lua:2: out of order'
