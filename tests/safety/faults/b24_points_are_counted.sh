# A sweep of 64 million points is refused, or listed lazily; either way by its number.
cat >x.lua <<'S'
local gb = require "gpubench"
local v = {} for i = 1, 400 do v[i] = i end
gb.experiment { name = "p", title = "t", axes = { gb.axis("a", v), gb.axis("b", v), gb.axis("c", v) },
  run = function() return { v = 1 } end }
S
for arguments in '--dry-run' ''; do
  rc=0
  (ulimit -v 2000000; timeout 20 "$G" x.lua --out o $arguments 2>&1 | head -c 2000000 >said) || true
  lacks "$(cat said)" 'not enough memory' "with '$arguments'"
  grep -qE '64.?000.?000' said || fail "with '$arguments': the number of points is not told: $(head -c 300 said)"
done
