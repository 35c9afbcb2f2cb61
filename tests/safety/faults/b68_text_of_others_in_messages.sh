# Messages show text of others without what a terminal would execute, in lines that cannot be taken for the program's own,
# and name the file and the place.
evil=$'\e]0;title\a\u009b31m\u202e'
json_evil='\u001b]0;title\u0007\u009b31m\u202e\ngpubench: all is well'
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "e", title = "t", columns = { gb.column("v", { unit = "s", better = "lower" }) },
  run = function() return { v = 1.5 } end }
S
run x.lua --out o
folder=$(echo o/results/e/*)
cp "$folder/run.json" plain.json
# harmless WHAT: nothing of these characters is in what the program said, and no line is forged.
harmless() {
  LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$work/out" "$work/err" &&
    fail "$1: $(cat -v "$work/out" "$work/err" | head -c 400)"
  ! grep -q '^gpubench: all is well' "$work/out" "$work/err" || fail "$1: a forged line"
}
for field in unit better kind name; do
  sed "0,/\"$field\": \"[^\"]*\"/!b" plain.json >/dev/null
  awk -v field="$field" -v text="${json_evil//\\/\\\\}" '
    /"columns": \[/ { inside = 1 }
    inside && $0 ~ "\"" field "\":" && !done { sub(/: ".*"/, ": \"" text "\""); done = 1 } { print }' plain.json >"$folder/run.json"
  run show "$folder"
  harmless "run.json: $field"
  [[ $field == name ]] || contains "$err" "run.json: column '" "$field"
done
cp plain.json "$folder/run.json"
printf '{"benchmarks":[{"name":"a","real_time":1,"time_unit":"%s"}]}' "$json_evil" >a.json
cp a.json b.json
run compare a.json b.json
harmless time_unit
contains "$err" "a.json: entry 1 of 'benchmarks' ('a'): unknown time_unit '"
printf '{"results":[{"command":"%s","times":[]}]}' "$json_evil" >a.json
cp a.json b.json
run compare a.json b.json
harmless "no times"
printf '{"results":[{"command":"a","times":[1],"parameters":{"%s":1}}]}' "$json_evil" >a.json
cp a.json b.json
run compare a.json b.json
harmless "name of a parameter"
printf 'n,process,%s_s\n1,1,1\n' "$evil" >a.csv
cp a.csv b.csv
run compare a.csv b.csv
harmless "name of a column"
printf 'n,%s\n1,1\n' 'time_s' >"$evil.csv"
run compare "$evil.csv" "$evil.csv"
harmless "name of a file"
run show "$evil"
harmless "name of a run"
run "--$evil"
harmless "an option"
printf '{"id":"%s","values":["x"]}\n' "$json_evil" >s.json
run changes s.json
harmless "id of a series"
printf '{"id":"%s","values":[1,2]}\n' "$json_evil" >s.json
run changes s.json
harmless "id of a series, as data"
# Scripts that are listed, and folders of runs.
mkdir list && printf 'gb.experiment { name = "a", topic = "\\27]0;title\\7\\27[31m", title = "t" }\n' >"list/$evil.lua"
for option in "" --names --long --json; do
  run list list $option
  ((rc == 0)) || fail "list $option: $err"
  harmless "list $option"
done
mv o/results/e "o/results/$evil"
for arguments in "show --out o" "prune --keep 0 --dry-run --out o"; do
  run $arguments
  harmless "a folder of runs: $arguments"
done
# Data stay data, escaped where the format can: JSON. Text of a script's own stays as it is.
cp plain.json data.json
sed "s/\"title\": \"t\"/\"title\": \"$(sed 's/\\/\\\\/g' <<<"$json_evil")\"/" plain.json >"$(echo o/results/*/*)/run.json"
run show o/results/*/* --format json
contains "$out" '\u009b31m\u202e' "JSON"
harmless JSON
printf 'print("\\27[1mbold")\nerror("\\27]0;x\\7\\nsecond", 0)\n' >y.lua
run y.lua
contains "$out" $'\e[1mbold' "print of a script"
lacks "$err" $'\e' "the error of a script"
contains "$err" "  second" "the error of a script"
