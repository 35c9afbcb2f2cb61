# A limit of file sizes ends a run with words, run.json says so, and what is in results.csv can be read.
cat >x.lua <<'S'
local gb = require "gpubench"
local values = {} for i = 1, 500 do values[i] = i end
gb.experiment { name = "s", title = "t", axes = { gb.axis("n", values) }, run = function(p) return { text = ("x"):rep(500) } end }
S
for ignored in '' "trap '' XFSZ;"; do
  rm -rf o
  rc=0
  bash -c "ulimit -f 100; $ignored exec timeout 60 \"\$@\"" _ "$G" x.lua --out o >said 2>err || rc=$?
  ((rc == 2 || rc == 153)) || fail "with '$ignored': status $rc: $(tail -n 2 err)"
  [[ -s err ]] || fail "with '$ignored': not a word on standard error"
  clean "$(cat err)"
  grep -q '"status": "running"' o/results/s/*/run.json && fail "with '$ignored': run.json says running"
  run show --out o
  ((rc == 0)) || fail "with '$ignored': show: $err"
done
