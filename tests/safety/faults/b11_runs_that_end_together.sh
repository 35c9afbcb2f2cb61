# Runs that end at the same time in one --out: every one ends well.
echo 'local gb=require"gpubench" gb.experiment{name="s",title="t",columns={"v"},run=function() return {v=1.0} end}' >x.lua
for _ in 1 2 3; do
  for i in {1..10}; do
    { limited "$G" x.lua --out o >/dev/null 2>"err$i"; echo $? >"rc$i"; } &
  done
  wait
  [[ $(sort -u rc*) == 0 ]] || fail "statuses: $(sort rc* | uniq -c | tr '\n' ' '), messages: $(sort -u err*)"
  [[ -z $(cat err*) ]] || fail "messages: $(sort -u err*)"
done
(($(find o/results/s -name results.csv | wc -l) == 30)) || fail "30 runs have other than 30 results.csv"
leftover=$(find o -name '*.new*' -o -name '*.tmp*')
[[ -z $leftover ]] || fail "left over: $leftover"
