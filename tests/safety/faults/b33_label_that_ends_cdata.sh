# A chart whose texts have "]]>" in them is well-formed XML.
command -v gnuplot >/dev/null || skip 'no gnuplot'
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "s", title = "a ]]> b", axes = { gb.axis("n", { 1, 2 }), gb.axis("of", { "x]]>y", "z" }) },
  charts = { gb.chart.line { x = "n", y = "v", series = "of", title = "c ]]> d" } }, run = function(p) return { v = p.n } end }
S
run x.lua --out o
((rc == 0)) || fail "status $rc: $err"
charts=$(find o/plots -name '*.svg')
[[ -n $charts ]] || fail "no chart was drawn: $err"
for chart in $charts; do
  opened=$(grep -oF '<![CDATA[' "$chart" | wc -l) closed=$(grep -oF ']]>' "$chart" | wc -l)
  ((opened == closed)) || fail "$chart: $opened sections begin, $closed end"
done
