# Memory that ends while an element becomes a table of a worker's state is a row, not the end of the program.
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "m", title = "t", axes = { gb.axis("n", { 100, 6000 }) }, run = function(p)
  local big = gb.data.Dataset.synthetic { types = { ("float32[%d,%d]"):format(p.n, p.n) }, count = 1 }
  for _ in big:map(gb.data.lua_function(function(x) return #x end, { output = { "int64" } })):iter() do end
  return { v = 1.0 }
end }
S
for kibibytes in 450000 550000 650000 750000; do
  rm -rf o
  rc=0
  (ulimit -v $kibibytes; limited "$G" x.lua --out o >out 2>err) || rc=$?
  ((rc < 124)) || fail "with $kibibytes KiB: status $rc: $(cat err)"
  lacks "$(cat err)" PANIC "with $kibibytes KiB"
  grep -q '"status": "running"' o/results/m/*/run.json && fail "with $kibibytes KiB: run.json says running"
  (($(grep -c . o/results/m/*/results.csv) == 3)) || fail "with $kibibytes KiB: not a header and 2 rows"
done
