# `check --confirm` started the program that run.json of a baseline names, first with --version.
source "$here/../run_json.sh"

cat >e.lua <<'L'
local gb = require "gpubench"
gb.experiment { name = "e", title = "t", charts = { gb.chart.line { x = "n", y = "held" } },
  axes = { gb.axis("n", { 1 }) }, columns = { gb.column("held", { kind = "memory", better = "lower" }) },
  run = function() return { held = 777 + math.random() } end }
L
run e.lua --quick --repeat 7 -q --tag now
run baseline save v1
printf '#!/bin/sh\ntouch "%s/PWNED"\necho "gpubench 9.9 (commit evil)"\nexec "%s" "$@"\n' "$PWD" "$G" >evil.sh
chmod +x evil.sh
sed -i 's/,777\./,77./' baselines/v1/e/*/results.csv

for program in '{"file": "'$PWD'/evil.sh", "commit": "evil"}' '{"file": "evil.sh"}' '"evil.sh"' '7' '["evil.sh"]'; do
  in_run_json program "$program" baselines/v1/e/*/run.json
  run check --baseline v1 --confirm
  ((rc == 1)) || fail "$program: status $rc: $err"
  [[ ! -e PWNED ]] || fail "$program was started"
  contains "$err" '--program FILE' "$program"
  lacks "$err" ', baseline' "$program"
done

in_run_json program '{"commit": "\u001b[31mevil"}' baselines/v1/e/*/run.json
run check now --baseline v1 --confirm --repeat 1
lacks "$err" $'\e'

# On the command line it is what was asked for.
run check now --baseline v1 --confirm --repeat 1 --program ./evil.sh
contains "$err" 'process 1 of 1, baseline'
[[ -e PWNED ]] || fail "--program was not started"
