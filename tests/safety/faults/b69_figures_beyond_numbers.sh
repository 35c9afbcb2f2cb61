# Figures of which ratios are no numbers are not compared, and a model's damaged description is refused in our own words.
for value in 1e308 1e-320 -1e308; do
  (echo process,n,time_s && for i in {1..9}; do echo "$i,1,$value"; done) >a.csv
  (echo process,n,time_s && for i in {1..9}; do echo "$i,1,1.$i"; done) >b.csv
  for files in "a.csv b.csv" "b.csv a.csv" "a.csv a.csv"; do
    for option in "" --all-figures "--format json" "--format csv" "--format junit" "--format markdown"; do
      [[ $files != "a.csv a.csv" ]] || cp a.csv c.csv
      run compare ${files/a.csv a.csv/a.csv c.csv} $option
      ((rc == 3)) || fail "compare $files $option: status $rc: $out$err"
      for word in 'nan' ' inf' '-inf'; do lacks "${out,,}" "$word" "compare $files $option with $value"; done
      contains "$out" "figures beyond 1e100, or nearer to 0 than 1e-100, cannot be compared"
    done
  done
  run report a.csv --file r.html
  ((rc == 0)) || fail "report: $err"
  grep -qiE '>(-?nan|-?inf)\b' r.html && fail "the page of $value has a number that is none"
done
(echo process,n,time_s && for i in {1..9}; do echo "$i,1,1e90"; done) >a.csv
run compare b.csv a.csv
contains "$out" "e+91 % more time"
cat >x.lua <<'S'
local gb = require "gpubench"
local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
model:save("results/m")
local file = assert(io.open("results/m/architecture.json"))
local plain = file:read "a"
file:close()
for _, change in ipairs { { '"kind": "Dense"', '"kind": 7' }, { '"kind": "Dense"', '"kid": 7' }, { '"layers"', '"lays"' },
  { '"name": "[^"]*"', '"name": ["\\u001b"]' }, { '"options": {', '"options": 1, "o": {' }, { '"layers": %[', '"layers": 7, "l": [' },
  { ".*", "7" }, { ".*", "[]" }, { ".*", '{"gpubench_model": 1, "layers": [null], "sequential": 1}' },
  { '"sequential": true', '"sequential": 0' }, { ".*", '{"gpubench_model": 1, "name": "m", "layers": [], "sequential": false, "calls": 1}' } } do
  local text, count = plain:gsub(change[1], function() return change[2] end, 1)
  assert(count == 1, change[1])
  local out = assert(io.open("results/m/architecture.json", "w"))
  out:write(text)
  out:close()
  print(select(2, pcall(gb.load_model, "results/m")))
end
S
mkdir results
run x.lua
((rc == 0)) || fail "$err"
[[ $(grep -c 'architecture.json: model architecture: ' <<<"$out") == 11 ]] || fail "said: $out"
clean "$out"
for word in 'type_error' 'cannot use at' 'number, but' "key '" 'out_of_range'; do lacks "$out" "$word"; done
lacks "$out" $'\e'
