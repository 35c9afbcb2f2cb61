# A limit of address space that leaves no room for generated kernels is an error, not a crash inside the library.
cat >x.lua <<'S'
local gb = require "gpubench"
local model = gb.Sequential { gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }), gb.layers.Dense(10) }
model:compile { optimizer = "adam", loss = "mean_squared_error" }
model:fit(gb.data.Dataset.synthetic { types = { "float32[784]", "float32[10]" }, count = 256 }:batch(64), { verbose = 0 })
S
refused=0
for kibibytes in {140000..250000..5000} 262144 300000; do
  rc=0
  (ulimit -v $kibibytes; limited "$G" x.lua --out o >out 2>err) || rc=$?
  ((rc < 124)) || fail "with $kibibytes KiB: status $rc: $(cat err)"
  ((rc == 0)) || grep -q 'memory\|address space' err || fail "with $kibibytes KiB: status $rc without a reason: $(cat err)"
  ((rc == 0)) || refused=1
done
((refused == 1)) || fail "no limit was too small"
