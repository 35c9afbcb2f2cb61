# Where threads are scarce, a program ends with a status and a reason within seconds: nothing waits for a thread that does
# not come, no library ends the process, and rows that were measured are kept.
cat >e.lua <<'S'
local gb = require "gpubench"
local function model()
  local m = gb.Sequential { gb.layers.Dense(64, { input_shape = { 16 } }), gb.layers.Dense(8) }
  m:compile { optimizer = "sgd", loss = "mse" }
  return m
end
local function examples()
  return gb.data.Dataset.synthetic { types = { "float32[16]", "float32[8]" }, count = 256 }
end
local ways = {
  nothing = function() return { v = 1 } end,
  training = function() return gb.measure.training(model(), examples():batch(64), { budget = 0.02, warmup = 0.02 }) end,
  map = function()
    local data = examples():map(function(x, y) return x * 2, y end, { num_parallel_calls = 3 }):batch(8):prefetch(2)
    return gb.measure.training(model(), data, { budget = 0.02, warmup = 0.02 })
  end,
  tuned = function()
    local data = examples():map(function(x, y) return x * 2, y end, { num_parallel_calls = gb.AUTOTUNE }):batch(8):prefetch(gb.AUTOTUNE)
    return gb.measure.training(model(), data, { budget = 0.3, warmup = 0.02 })
  end,
  interleave = function()
    local parts = { examples(), examples(), examples() }
    return gb.measure.pipeline(gb.data.Dataset.interleave(parts, { cycle_length = 3, num_parallel_calls = 3 }):batch(8), { budget = 0.02 })
  end,
  inference = function() return gb.measure.inference(model(), { concurrency = 4, duration = 0.02 }) end,
  replicas = function()
    gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 2 }, { threads = 1 } })
    local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0", "cpu:1", "cpu:2" } }
    return strategy:scope(function() return gb.measure.training(model(), examples():batch(48), { budget = 0.02, warmup = 0.02 }) end)
  end,
}
local names = {}
for name in pairs(ways) do names[#names + 1] = name end
table.sort(names)
gb.experiment { name = "e", title = "t", axes = { gb.axis("way", names) }, run = function(p) return ways[p.way]() end }
S
# As if a user may have so many threads, and without the system's delay in counting those that have ended.
cat >limit.c <<'S'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
static int live;
struct call { void *(*start)(void *); void *argument; };
static void *run(void *given) {
  struct call call = *(struct call *)given;
  free(given);
  void *result = call.start(call.argument);
  __sync_fetch_and_sub(&live, 1);
  return result;
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
  if (__sync_add_and_fetch(&live, 1) > atoi(getenv("THREADS"))) {
    __sync_fetch_and_sub(&live, 1);
    return EAGAIN;
  }
  struct call *call = malloc(sizeof *call);
  call->start = start, call->argument = argument;
  return create(thread, attributes, run, call);
}
S
compiler=$(command -v cc || command -v gcc) || skip 'no compiler'
"$compiler" -shared -fPIC -o limit.so limit.c -ldl || fail 'limit.c cannot be compiled'

# ends NAME COMMAND...: within 20 s, with a status of the program's own, and with a reason for an error.
ends() {
  local name=$1
  shift
  rc=0
  limit_s=20 limited "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
  said=$(cat "$work/out" "$work/err")
  ((rc <= 3)) || fail "$name: status $rc: $said"
  lacks "$said" libgomp "$name"
  ((rc != 2)) || contains "$said" 'threads can' "$name"
}
for ((threads = 0; threads < 9; ++threads)); do
  for words in "e.lua --threads 3 --out o$threads" 'devices' 'doctor'; do
    THREADS=$threads ends "$threads threads: $words" env LD_PRELOAD="$PWD/limit.so" "$G" $words
  done
  for run in o$threads/results/e/*; do
    [[ -e $run ]] || continue
    [[ $(grep -c '^e,' "$run/results.csv") == 7 ]] || fail "$threads threads: not all rows are there: $said"
    grep -q '"status": "\(done\|error\)"' "$run/run.json" || fail "$threads threads: the run has not ended"
    ((threads < 2)) || grep -q '^e,.*,0,nothing,ok' "$run/results.csv" || fail "$threads threads: what needs no thread was not measured"
  done
done
[[ -e o8/results ]] || fail 'no run was made'

((EUID == 0)) || skip 'limits of another user are set by root'
for_everyone
chmod 777 .
for limit in 1 2 3 4 5 6 8; do
  for words in "e.lua --out u$limit" 'devices' 'doctor'; do
    ends "ulimit -u $limit: $words" setpriv --reuid=65533 --regid=65533 --clear-groups bash -c "ulimit -u $limit; exec \"\$0\" \"\$@\"" "$G" $words
  done
done
