# Completion expanded names of files as a shell does: Tab behind `gpubench show` ran what a folder of others is named. And
# a night took each line that a script prints for the folder of a run, which it reads and marks.
name='$(touch${IFS}PWNED)'
plain=20260101T000000Z-vm
mkdir -p "results/$name/$name" "results/fine/$plain" experiments
touch "results/$name/$name/results.csv" "results/fine/$plain/results.csv"
for file in "$name" '`touch PWNED`' $'\e[31m' 'a b' fine_one; do
  echo 'gb.experiment { name = "x", title = "t" }' >"experiments/$file.lua"
done
run completion bash
echo "$out" >completion.bash

# offered WORD...: what bash offers for the last word, a line each.
offered() {
  bash -c 'source ./completion.bash; G=$1; shift; COMP_WORDS=("$G" "$@"); COMP_CWORD=$#; _gpubench; printf "%s\n" "${COMPREPLY[@]}"' \
    bash "$G" "$@" 2>&1
}
for words in '' 'show|' 'show|$' 'show|f' 'compare|' 'run|' 'run|$' 'fine_one|--set|' 'tune|' 'finish|20'; do
  IFS='|' read -ra typed <<<"$words|end"
  unset 'typed[-1]'
  list=$(offered "${typed[@]:-}")
  [[ ! -e PWNED ]] || fail "completing '$words' ran what a file is named"
  lacks "$list" 'touch' "offered for '$words'"
  lacks "$list" $'\e' "offered for '$words'"
done
contains "$(offered show '')" fine
contains "$(offered show '')" "$plain"
contains "$(offered run f)" fine_one

# Lines of a script's own. Runs are marked where the history cannot be written.
rm -rf results experiments
mkdir -p elsewhere/e/run results/history.db
printf 'v\n1\n' >elsewhere/e/run/results.csv
echo '{"experiment": "planted", "status": "done"}' >elsewhere/e/run/run.json
cat >e.lua <<'L'
local gb = require "gpubench"
print "elsewhere/e/run"
print "./results/../elsewhere/e/run"
print "results/e/../../elsewhere/e/run"
gb.experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }
L
echo 'return { minutes = 1, devices = { "cpu" }, scripts = { "e" } }' >s.lua
for out_folder in . ./ "$PWD"; do
  run nightly s.lua --out "$out_folder"
  contains "$out" 'e on cpu:0: done'
  lacks "$out$err" elsewhere
  contains "$err" results/e/20 "with --out $out_folder"
done
[[ ! -e elsewhere/e/run/history.pending ]] || fail "a folder that a script printed was marked"
for run in results/e/*/; do [[ -e $run/history.pending ]] || fail "$run is not marked"; done
