# Numbers of the command line that do not fit are refused; a device is listed once.
echo 'require"gpubench".experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >x.lua
for option in '--seed 99999999999999999999999' '--seed -99999999999999999999999' '--threads 99999999999999999999' \
  '--threads -1' '--budget 1e999' '--budget nan' '--timeout nan' '--timeout -1' '--workers 99999999999999999999'; do
  run x.lua --out o $option
  ((rc == 2)) || fail "$option: status $rc"
  contains "$err" "${option%% *}" "$option"
  clean "$err"
done
echo 'local gb = require"gpubench" print(pcall(gb.config.set_visible_devices, { "cpu:0", "cpu:0" }, "CPU"))
  print(#gb.config.list_logical_devices())' >y.lua
run y.lua
contains "$out" false 'set_visible_devices { "cpu:0", "cpu:0" }'
contains "$out" cpu:0 'set_visible_devices { "cpu:0", "cpu:0" }'
