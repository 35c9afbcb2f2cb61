# --timeout and Ctrl-C end every loop within 2 s: a row says so, and the files are whole. Where Lua can be interrupted,
# the sweep goes on and ends with status 0; elsewhere the program ends with status 2.
declare -A bodies=(
  [pattern]='string.find(("a"):rep(40), ("a-"):rep(30) .. "b")'
  [pattern_in_a_worker]='for _ in gb.data.Dataset.range(1):map(gb.data.lua_function(function()
      return string.find(("a"):rep(40), ("a-"):rep(30) .. "b") or 1 end, { output = { "int64" } })):iter() do end'
  [loop_in_a_worker]='for _ in gb.data.Dataset.range(1):map(gb.data.lua_function(function()
      while true do end end, { output = { "int64" } })):iter() do end'
  [finalizer]='setmetatable({}, { __gc = function() while true do end end }) collectgarbage() collectgarbage()'
  [error_handler]='xpcall(error, function() while true do end end)'
  [handler_that_catches]='xpcall(error, function() while true do pcall(function() while true do end end) end end)'
  [handlers_in_handlers]='xpcall(error, function() xpcall(error, function() while true do end end) while true do end end)'
  [handler_in_a_coroutine]='coroutine.wrap(xpcall)(error, function() while true do end end)'
  [handler_of_the_time_limit]='xpcall(function() while true do end end, function() while true do end end)'
  [handler_of_the_library]='getmetatable("").__tostring = function() while true do end end
    xpcall(function() while true do end end, tostring)'
  [pattern_in_a_handler]='xpcall(error, function() string.find(("a"):rep(40), ("a-"):rep(30) .. "b") end)'
  [closing]='local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end'
  [endless_file]='while true do io.open("/dev/zero"):read("l") end'
  [caught_errors]='while true do pcall(function() while true do end end) end'
  [coroutines]='while true do coroutine.wrap(function() while true do end end)() end'
)
# Those in which nothing but the end of the program helps.
uninterruptible=' pattern pattern_in_a_worker finalizer endless_file handler_of_the_library pattern_in_a_handler '
for name in "${!bodies[@]}"; do
  status=0 outcome=done
  [[ $uninterruptible != *" $name "* ]] || status=2 outcome=error
  cat >"$name.lua" <<S
local gb = require "gpubench"
gb.experiment { name = "$name", title = "t", axes = { gb.axis("n", { 1, 2 }) }, run = function(p)
  if p.n == 2 then print "second point" ${bodies[$name]} end
  return { v = 1.0 }
end }
S
  began=$(date +%s%N)
  rc=0
  (ulimit -v 4000000; timeout --kill-after=1 8 "$G" "$name.lua" --out o --timeout 1 >said 2>&1) || rc=$?
  took=$((($(date +%s%N) - began) / 1000000))
  ((rc == status)) || fail "$name: --timeout: status $rc after $took ms, expected $status: $(tail -n 3 said)"
  grep -q '^[a-z_]*,2,0,2,timeout,' o/results/"$name"/*/results.csv || fail "$name: --timeout: no row of the status timeout"
  ended_as "$outcome" o/results/"$name"/*/run.json
  ((took < 5500)) || fail "$name: --timeout 1 took $took ms"

  rm -rf o said
  (ulimit -v 4000000; exec timeout --kill-after=1 12 "$G" "$name.lua" --out o) >said 2>&1 &
  process=$!
  for _ in {1..200}; do grep -sq 'second point' said && break; sleep 0.05; done
  began=$(date +%s%N)
  kill -INT "$(pgrep -P "$process")"
  rc=0
  wait "$process" || rc=$?
  took=$((($(date +%s%N) - began) / 1000000))
  ((rc == 130)) || fail "$name: Ctrl-C: status $rc after $took ms: $(tail -n 3 said)"
  ended_as interrupted o/results/"$name"/*/run.json
  ((took < 5000)) || fail "$name: Ctrl-C took $took ms"
done
