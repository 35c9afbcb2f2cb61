# run.json with long lists, long names and many fields is read, or refused by a limit that the message names, in seconds
# of processor time.
limit_s=250
ulimit -t 20
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "e", title = "t", axes = { gb.axis("n", { 1, 2 }) }, charts = { gb.chart.line { x = "n", y = "v" } },
  run = function(point) return { v = point.n + 0.5 } end }
S
run x.lua --out o
folder=$(echo o/results/e/*)
cp "$folder/run.json" plain.json
printf 'process,n,time_s\n1,1,1.5\n' >b.csv
# with LIST ITEM: run.json with a list of 50 000 of these in front of what it had, where the first of one name counts.
with() {
  (printf '{\n"%s": [' "$1" && seq -f "$2," 50000 && echo "null]," && tail -n +2 plain.json) >"$folder/run.json"
}
for list in 'axis_names "a%g"' 'figures "f%g"' 'tags "t%g"' 'devices {"name":"d%g"}' 'warnings "w%g"' 'notes "n%g"' \
  'expectations {"id":"e%g","claim":"c"}' 'answers {"text":"a%g"}' 'columns {"name":"c%g","unit":"s"}'; do
  with $list
  for arguments in "show $folder" "show" "compare $folder b.csv" "report $folder --file r.html" \
    "pack $folder --anonymous --file p.tar.gz"; do
    run $arguments --out o
    ((rc <= 3)) || fail "${list%% *}: gpubench $arguments: status $rc: $err"
    clean "$err"
    lacks "$err" "not valid JSON"
  done
done
(printf '{' && seq -f '"k%g":1,' 5000 && echo '"status":"done"}') >"$folder/run.json"
run show "$folder"
contains "$err" "run.json: JSON object with more than 5000 fields at byte "
(printf '{"a":[' && yes 0, | head -n 4000000 && echo '0]}') >"$folder/run.json"
run show "$folder"
contains "$err" "run.json: JSON with more than 4000000 values at byte "
truncate -s 65M "$folder/run.json"
run show "$folder"
contains "$err" "run.json': it has 68157440 bytes; at most 67108864 are read"
