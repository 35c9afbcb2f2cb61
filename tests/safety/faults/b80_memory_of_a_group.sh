# A point that takes more memory than the control group has becomes out_of_memory, and the run goes on.
root=/sys/fs/cgroup
if own=$(grep -oP '^\d+:memory:\K.*' /proc/self/cgroup); then
  root+=/memory limit=memory.limit_in_bytes
else
  own=$(grep -oP '^0::\K.*' /proc/self/cgroup) limit=memory.max
fi
group=$root${own%/}/gpubench_$$
mkdir "$group" 2>/dev/null || skip "no control group can be made here"
trap 'rmdir "$group"' EXIT
echo $((300 << 20)) 2>/dev/null >"$group/$limit" || skip "the control group cannot be limited here"

cat >x.lua <<'S'
local gb = require "gpubench"

local function cached(elements, kibibytes)
  local examples = gb.data.Dataset.range(elements):map(function(x)
    return gb.zeros { kibibytes << 8 } + x:cast "float32"
  end):cache()
  local count = 0
  for _ in examples:iter() do count = count + 1 end
  return count
end

local takes = {
  tensor = function(mib) return gb.ones { mib << 18 }:sum():item() end,
  two = function(mib)  -- each fits
    local a = gb.ones { math.min(mib // 2, 180) << 18 }
    local b = gb.ones { math.min(mib // 2, 180) << 18 }
    return (a:sum() + b:sum()):item()
  end,
  cache = function(mib) return cached(mib, 1 << 10) end,
  small = function(mib) return cached(mib << 8, 4) end,
  model = function(mib)
    local model = gb.Sequential { gb.layers.Dense(1 << 10, { input_shape = { mib << 8 } }) }
    return model:predict(gb.zeros { 1, mib << 8 }):sum():item()
  end,
}

gb.experiment {
  name = "group", title = "t",
  axes = { gb.axis("what", { "tensor", "two", "cache", "small", "model" }), gb.axis("mib", { 40, 1000, 50 }) },
  run = function(p) return { sum = takes[p.what](p.mib) } end,
}
S
rc=0
(echo "$BASHPID" >"$group/cgroup.procs" && limited "$G" x.lua --quick --out o >out 2>err) || rc=$?
((rc < 124)) || fail "status $rc: $(tail -n 5 err)"
rows=$(echo o/results/group/*/results.csv)
for what in tensor two cache small model; do
  for mib in 40 50; do grep -q ",$what,$mib,ok," "$rows" || fail "$what of $mib MiB: $(grep ",$what,$mib," "$rows")"; done
  row=$(grep ",$what,1000," "$rows")
  [[ $row == *,$what,1000,out_of_memory,* ]] || fail "$what of 1000 MiB: $row"
  [[ $row == *"the control group leaves"*"of 300 MiB"* || $row == *"more than half of the free memory"* ]] || fail "$what: $row"
done
