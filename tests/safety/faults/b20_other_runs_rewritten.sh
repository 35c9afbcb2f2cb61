# A script ends no run of others: neither by gb._native nor by anything else that it reaches.
mkdir victim
printf '{\n  "status": "running"\n}\n' >victim/run.json
printf 'a\r\n1\r\n' >victim/results.csv
cp -r victim before
cat >x.lua <<'S'
local gb = require "gpubench"
local native = rawget(gb, "_native") or package.loaded["gpubench.native"] and rawget(package.loaded["gpubench.native"], "_native")
local results = native and native.results
for _, folder in ipairs { "victim", "./victim", "out/../victim", "out/link" } do
  if results and results.end_abandoned then print(pcall(results.end_abandoned, folder, "rewritten by a script")) end
end
S
mkdir out && ln -s ../victim out/link
run x.lua --out out
diff -r before victim >/dev/null || fail "rewritten: $(cat victim/run.json)"
