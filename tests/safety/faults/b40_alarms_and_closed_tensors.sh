# An alarm from outside is no time limit; a closed tensor has a text.
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "s", title = "t", axes = { gb.axis("n", { 1, 2 }) }, run = function(p)
  if p.n == 1 then print "first point" local t = gb.clock() while gb.clock() - t < 1.5 do end end
  return { v = 1.0 }
end }
S
limited "$G" x.lua --out o >said 2>err &
process=$!
for _ in {1..200}; do grep -q 'first point' said && break; sleep 0.05; done
kill -ALRM "$(pgrep -P "$process")"
rc=0
wait "$process" || rc=$?
lacks "$(cat said err)" 'not done after 0 s' 'SIGALRM without --timeout'
lacks "$(cat said err)" '--timeout' 'SIGALRM without --timeout'
echo 'local gb = require "gpubench" local x do local y <close> = gb.ones { 2 } x = y end print("text: " .. tostring(x))' >y.lua
run y.lua
((rc == 0)) || fail "tostring(closed tensor): $err"
contains "$out" 'text: ' 'tostring(closed tensor)'
