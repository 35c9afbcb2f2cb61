# SIGTERM and SIGHUP end a run like Ctrl-C: files whole, status 128 + n, run.json says so.
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "s", title = "t", axes = { gb.axis("n", { 1, 2 }) }, run = function(p)
  if p.n == 2 then print "second point" while true do end end
  return { v = 1.0 }
end }
S
for signal in TERM:143 HUP:129 INT:130; do
  rm -rf o said
  limited "$G" x.lua --out o >said 2>err &
  process=$!
  for _ in {1..200}; do grep -q 'second point' said && break; sleep 0.05; done
  grep -q 'second point' said || fail "nothing was printed: $(cat err)"
  kill "-${signal%:*}" "$(pgrep -P "$process")"
  rc=0
  wait "$process" || rc=$?
  ((rc == ${signal#*:})) || fail "SIG${signal%:*}: status $rc"
  ended_as interrupted o/results/s/*/run.json
  [[ -s $(echo o/results/s/*/report.html) ]] || fail "SIG${signal%:*}: no report"
  grep -q '^s,1,0,1,ok,' o/results/s/*/results.csv || fail "SIG${signal%:*}: the finished row is lost"
done
