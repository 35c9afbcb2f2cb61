# The command that settles an ambiguous verdict was made of the words of run.json, and that of a night's dry run was not
# quoted: people copy both into their shell.
source "$here/../run_json.sh"

cat >e.lua <<'L'
local gb = require "gpubench"
gb.experiment { name = "e", title = "t", charts = { gb.chart.line { x = "n", y = "held" } },
  axes = { gb.axis("n", { 1 }), gb.axis("text", { "a" }) },
  columns = { gb.column("held", { kind = "memory", better = "lower" }) }, run = function() return { held = 777 + math.random() } end }
L
echo 'io.open("results/PWNED", "w"):close()' | cat - e.lua >evil.lua
run e.lua --quick -q --tag a
run e.lua --quick -q --tag b
newest=$(printf '%s\n' results/e/* | sort -V | tail -n 1)

# paste SHELL COMMAND: its words as the shell sees them, a line each.
paste_into() { limited "$1" -c 'gpubench() { printf "%s\n" "$@"; }; '"$2" 2>&1; }

# settles ARGUMENTS: the command that compare prints of such a run.
settles() {
  in_run_json arguments "$1" "$newest/run.json"
  run compare a b
  ((rc == 3)) || fail "$1: status $rc: $err"
  lacks "$out$err" $'\e' "$1"
  command=$(sed -n 's/.*processes a side: \(gpubench.*\) (about.*/\1/p' <<<"$out")
}

odd='text=`touch PWNED` $(touch PWNED) \\'"'"'; touch PWNED; \\'"'"' \" ; touch PWNED # ${IFS} ~ é !x'
settles '["run", "evil.lua", "--trusted", "--tag", "$(touch PWNED)", "--set", "'"$odd"'", "--quick"]'
lacks "$command" trusted
lacks "$command" evil
expected=$(printf '%s\n' run "$newest/script.lua" "--set=$(printf "$odd")" --quick --repeat 7)
for shell in sh bash; do
  [[ $(paste_into "$shell" "$command") == "$expected" ]] || fail "$shell reads $command as: $(paste_into "$shell" "$command")"
  [[ ! -e PWNED ]] || fail "$shell: pasting ran something else: $command"
done
for arguments in '["evil.lua; touch PWNED", "--set", "n=\u001b[31m"]' '["evil.lua", "--no-such", "`touch PWNED`"]' '"x"' 7; do
  settles "$arguments"
  [[ -z $command ]] || fail "$arguments: $command"
done

# A folder of others has any name.
rm -rf others && mkdir -p "others/\$(touch PWNED)/e" && cp -r "$newest" "others/\$(touch PWNED)/e/-x'y"
in_run_json arguments '["e.lua"]' others/*/e/*/run.json
run compare a others
contains "$out" "processes a side: gpubench run "
command=$(sed -n 's/.*processes a side: \(gpubench.*\) (about.*/\1/p' <<<"$out")
words=$(paste_into bash "$command")
grep -qxF -- "others/\$(touch PWNED)/e/-x'y/script.lua" <<<"$words" || fail "$command"
[[ ! -e PWNED ]] || fail "pasting ran something else: $command"

# Suites: options are no values of axes, and what a dry run prints can be pasted.
cat >s.lua <<'L'
return { minutes = 1, devices = { "cpu" }, scripts = { { "e", set = { text = { "$(touch PWNED)", "'; touch PWNED; '" } } } } }
L
run nightly s.lua --dry-run
((rc == 0)) || fail "nightly --dry-run: status $rc: $err"
lacks "$out$err" $'\e'
command=$(sed -n 's/^e on cpu:0: \(gpubench run .*\)/\1/p' <<<"$out")
[[ -n $command ]] || fail "no command: $out"
words=$(paste_into bash "$command")
grep -qxF -- "--set=text=\$(touch PWNED),'; touch PWNED; '" <<<"$words" || fail "bash reads $command"
[[ ! -e PWNED ]] || fail "pasting ran something else: $command"
for name in --trusted 'a=1' '' 'n --trusted' $'n\n'; do
  printf 'return { minutes = 1, scripts = { { "e", set = { [ [=[%s]=] ] = 1 } } } }\n' "$name" >s.lua
  run nightly s.lua --dry-run
  ((rc == 2)) || fail "an axis '$name': status $rc: $out"
  contains "$err" axis
done
# A script's file is no option.
cp e.lua ./--out=x.lua
echo 'return { minutes = 1, devices = { "cpu" }, scripts = { "--out=x" } }' >s.lua
run nightly s.lua
contains "$out" '--out=x on cpu:0: done'
