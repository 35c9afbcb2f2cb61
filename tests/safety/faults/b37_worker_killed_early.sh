# A worker that is killed while the processes join: the run ends with 2, and says why.
command -v mpirun >/dev/null || skip 'no mpirun'
echo 'require"gpubench".experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >x.lua
descendants() { local child; for child in $(pgrep -P "$1"); do echo "$child" && descendants "$child"; done; }
killed=0
for delay in 0.02 0.05 0.1 0.15 0.2; do
  limited "$G" x.lua --out o --workers 2 >said 2>err </dev/null &
  process=$!
  worker=''
  for _ in {1..200}; do
    for child in $(descendants "$process"); do
      { tr "\0" " " <"/proc/$child/environ"; } 2>/dev/null | grep -q 'OMPI_COMM_WORLD_RANK=1' && worker=$child
    done
    [[ -z $worker ]] || break
    sleep 0.01
  done
  [[ -n $worker ]] || fail "no worker was found: $(cat err)"
  sleep "$delay"
  kill -KILL "$worker" 2>/dev/null || { wait "$process" || true; continue; }
  killed=$((killed + 1))
  rc=0
  wait "$process" || rc=$?
  ((rc == 0 || rc == 2)) || fail "killed after $delay s: status $rc: $(cat err)"
  ((rc == 0)) || [[ -s err ]] || fail "killed after $delay s: status $rc and not a word"
done
((killed > 0)) || fail 'no worker was killed in time'
