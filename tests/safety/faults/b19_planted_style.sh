# A plots/style.gp that came with a folder is not run by gnuplot.
command -v gnuplot >/dev/null || skip 'no gnuplot'
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "s", title = "t", axes = { gb.axis("n", { 1, 2 }) }, charts = { gb.chart.line { x = "n", y = "v" } },
  run = function(p) return { v = p.n } end }
S
mkdir plots out out/plots
for style in plots/style.gp out/plots/style.gp style.gp .gnuplot; do echo "system('touch PLANTED')" >"$style"; done
run x.lua
((rc == 0)) || fail "status $rc: $err"
run x.lua --out out
planted=$(find . -name PLANTED)
[[ -z $planted ]] || fail "commands of a planted style file were run: $planted"
[[ -n $(find plots out/plots -name '*.svg') ]] || fail "no chart was drawn: $err"
