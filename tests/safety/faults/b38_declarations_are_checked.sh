# What a script declares wrongly is told before or at the point, by its name; other points go on.
# try NAME BODY WORD: the experiment must fail with status 2, and the message has the word.
try() {
  echo "local gb = require 'gpubench' gb.experiment { name = 'e', title = 't', axes = { gb.axis('n', { 1, 2 }) }, $2 }" >"$1.lua"
  run "$1.lua" --out "$1"
  ((rc == 2)) || fail "$1: status $rc: $out $err"
  contains "$out$err" "$3" "$1"
  clean "$out$err"
}
try status "run = function() return { status = 'weird', v = 1 } end" weird
contains "$out$err" out_of_memory 'the statuses that there are'
try column "run = function() return { ['a\\0b'] = 1 } end" column
try timeline "run = function(p) if p.n == 1 then return { timeline = 5, v = 1 } end return { v = 2 } end" timeline
grep -q '^e,2,0,2,ok,' timeline/results/e/*/results.csv || fail 'timeline: the second point did not run'
for chart in '{ kind = "line" }' '{}' '5'; do
  rm -rf chart
  try chart "charts = { $chart }, run = function(p) return { v = p.n } end" chart
  if [[ -e chart/results/e ]]; then
    [[ -s $(echo chart/results/e/*/report.html) ]] || fail "charts = { $chart }: points were measured, no report was written"
  fi
done
