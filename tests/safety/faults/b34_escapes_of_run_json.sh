# Nothing of run.json reaches the terminal as a control character.
echo 'require"gpubench".experiment { name = "e", title = "t", run = function() return { v = 1 } end }' >x.lua
run x.lua --out o
folder=$(echo o/results/e/*)
cp "$folder/run.json" plain.json
for field in experiment status title host started; do
  sed "s/\"$field\": \"[^\"]*\"/\"$field\": \"\\\\u001b[31mred\\\\u0007\"/" plain.json >"$folder/run.json"
  for arguments in "" "$folder"; do
    run show $arguments --out o
    grep -q $'[\e\a]' <<<"$out$err" && fail "the field '$field' reaches the terminal as it is: gpubench show $arguments"
  done
done
true
