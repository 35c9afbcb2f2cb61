# Several prunes at once remove each run once, and none of them fails; other commands go on meanwhile.
echo 'local gb = require "gpubench" gb.experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >e.lua
run e.lua -q --out o
R=$(basename o/results/e/*)
for day in {10..49}; do cp -r "o/results/e/$R" "o/results/e/20200101T0000${day}Z-x"; done
for n in {1..8}; do { limited "$G" prune --keep 1 --out o >"said$n" 2>&1 || echo "status $?" >>"said$n"; } & done
for n in {1..5}; do
  limited "$G" show e --out o >shown 2>&1 || fail "show: $(cat shown)"
  limited "$G" e.lua -q --out o >made 2>&1 || fail "a run: $(cat made)"
done
wait
! grep -h 'cannot\|status' said* || fail "a prune failed"
removed=$(cat said* | grep -c '^o/results/e/2020')
((removed == 40)) || fail "$removed runs were removed, by all together, of 40"
[[ -z $(find o -name '.*') ]] || fail "left: $(find o -name '.*')"
