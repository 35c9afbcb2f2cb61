# A home that cannot be read: the digits come from the sample.
mkdir -m 700 home && mkdir home/.cache
[[ $EUID == 0 ]] || chmod 000 home
mkdir -m 777 out
for_everyone
echo 'local gb = require"gpubench" gb.experiment{name="h",title="t",run=function()
  for _ in gb.datasets.mnist("train"):batch(8):iter() do break end return {v=1.0} end}' >x.lua
limited env HOME="$PWD/home" bash -c "$(declare -f unprivileged); unprivileged \"\$@\"" _ "$G" x.lua --out out >said 2>err && rc=0 || rc=$?
((rc == 0)) || fail "status $rc: $(cat said err)"
clean "$(cat said err)"
