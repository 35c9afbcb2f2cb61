# Texts that a spreadsheet would take for formulas are written so that it does not; numbers stay numbers.
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "f", title = "t", axes = { gb.axis("text", { "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "plain" }) },
  run = function(p) return { said = p.text, v = -1.5 } end }
S
run x.lua --out o
((rc == 0)) || fail "status $rc: $err"
rows=$(cat o/results/f/*/results.csv)
cells=$(tail -n +2 <<<"$rows" | tr ',' '\n' | tr -d '"\r')
dangerous=$(grep -E $'^[=@\t]|^[+-].*[+]' <<<"$cells" || true)
[[ -z $dangerous ]] || fail "cells: $dangerous"
contains "$cells" '-1.5'
contains "$cells" plain
run show f --out o
contains "$out" '=1+1' show
