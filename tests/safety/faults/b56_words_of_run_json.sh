# `check` ran the words that run.json of a baseline has as its arguments: `--trusted` and any script path among them. A
# script without --trusted may write its own run.json, and a baseline may come from somebody else.
source "$here/../run_json.sh"

script='local gb = require "gpubench"
gb.experiment { name = "e", title = "t", axes = { gb.axis("n", { 1, 2 }), gb.axis("text", { "a" }) },
  run = function(p) return { v = p.n } end }'
echo "$script" >e.lua
cat >evil.lua <<L
io.open("results/PWNED", "w"):close()
pcall(os.execute, "touch PWNED")
$script
L
run e.lua --quick --repeat 2 -q
run baseline save v1
cp -r baselines/v1 kept

# with ARGUMENTS OPTION...: checks a baseline whose run.json has these arguments.
with() {
  rm -rf baselines/v1 results && cp -r kept baselines/v1
  in_run_json arguments "$1" baselines/v1/e/*/run.json
  run check --baseline v1 --repeat 1 "${@:2}"
  [[ ! -e PWNED && ! -e results/PWNED ]] || fail "$1: another script was run"
  [[ ! -e elsewhere ]] || fail "$1: it wrote elsewhere"
  lacks "$out$err" $'\e' "$1"
  clean "$err"
}
repeats() {
  with "$@"
  ((rc == 0 || rc == 3)) || fail "$1: status $rc: $err"  # one process is judged only where its figure is exact
}
refuses() {
  with "$1"
  ((rc == 2)) || fail "$1: status $rc: $err"
  contains "$err" "$2" "$1"
}
says_not() { ! grep -q "$1" results/e/*/run.json || fail "the new run.json has $1"; }

repeats '["evil.lua", "--trusted"]'
contains "$err" '--trusted'
repeats '["run", "evil.lua", "--out", "elsewhere", "--tag", "night", "--json", "--chart-format=png", "--strict"]'
says_not night
with '["run", "evil.lua", "--trusted", "--quick", "--set", "n=1", "--set=text=b;c $(d)", "--seed", "7", "--threads=1"]'
((rc == 3)) || fail "another value of the axis: status $rc: $err"
for word in '"--quick"' '"--set=n=1"' '"--set=text=b;c $(d)"' '"--seed=7"' '"--threads=1"'; do
  grep -qF -- "$word" results/e/*/run.json || fail "the new run.json lacks $word"
done
says_not 'evil'

refuses '["e.lua", "--set", "--trusted=1"]' --set
refuses '["e.lua", "--set=--trusted"]' --set
refuses '["e.lua", "--set=n=1\u0000x"]' --set
refuses '["e.lua", "--set", "n=\u001b[31m"]' --set
refuses '["e.lua", "--device", "--trusted"]' --device
refuses '["e.lua", "--budget", "--trusted"]' --budget
refuses '["e.lua", "--budget"]' --budget
refuses '["e.lua", "--seed=1e3"]' --seed
refuses '["e.lua", "--quick=--trusted"]' --quick
refuses '["e.lua", "--restart-from", "evil.lua"]' --restart-from
refuses '["e.lua", "--workers=2"]' --workers
refuses '["e.lua", "--no-such\u001b[31m"]' --no-such
refuses '["tune", "e.lua", "--where", "n=1"]' --where
refuses '["tune", "e.lua"]' 'gpubench run'
refuses '["e.lua", "evil.lua"]' evil.lua
refuses '["--quick"]' 'gpubench run'
for arguments in '"evil.lua --trusted"' '[["evil.lua"]]' '{"1": "evil.lua"}' '5' 'null' '[]' '[true, 1]'; do
  refuses "$arguments" 'gpubench run'
done

# The script is the stored copy itself.
rm -rf results && rm baselines/v1 -r && cp -r kept baselines/v1 && rm baselines/v1/e/*/script.lua
run check --baseline v1
((rc == 2)) || fail "without a copy of the script: status $rc"
contains "$err" script.lua
for folder in baselines/v1/e/*; do ln -s "$PWD/evil.lua" "$folder/script.lua"; done
run check --baseline v1
((rc == 2)) || fail "with a link as the script: status $rc"
[[ ! -e results/PWNED ]] || fail "a link was followed to another script"

# --trusted comes from this command line, and then reaches the processes.
rm -rf results baselines
echo 'assert(os.execute "touch trusted")' | cat - e.lua >needs.lua
run needs.lua --quick --trusted -q
run baseline save v1
rm trusted
run check --baseline v1 --repeat 1
((rc == 2)) || fail "a script that needs --trusted: status $rc"
contains "$err" '--trusted'
[[ ! -e trusted ]] || fail "it was trusted"
run check --baseline v1 --repeat 1 --trusted
((rc == 3)) || fail "check --trusted: status $rc: $err"  # one process: nothing judged
[[ -e trusted ]] || fail "check --trusted does not reach its processes"
