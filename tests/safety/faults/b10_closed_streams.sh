# Standard streams that are closed: what would be printed never gets into a file of results.
cat >script.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "c", title = "Printed title", axes = { gb.axis("n", { 1, 2 }) }, columns = { "sum" },
  run = function(p) if p.n == 2 then error "boom of a point" end return { sum = 1.0 } end }
S
for closed in '>&-' '2>&-' '<&-' '>&- 2>&-' '<&- >&- 2>&-'; do
  rm -rf out
  eval "limited $G script.lua --out out $closed" || true
  run show --out out
  ((rc == 0)) || fail "with $closed: show: $err"
  rows=$(cat out/results/c/*/results.csv)
  contains "$rows" 'ok' "with $closed"
  lacks "$rows" 'Printed title' "with $closed, in results.csv"
  (($(grep -c . <<<"$rows") == 3)) || fail "with $closed: results.csv has other lines than a header and 2 rows: $rows"
  lacks "$(cat out/results/c/*/samples.csv 2>/dev/null || true)" 'boom' "with $closed, in samples.csv"
done
