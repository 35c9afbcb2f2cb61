# JSON of a million brackets: in a header of safetensors, and in run.json, which later runs read for the index.
nested() { head -c 1000000 /dev/zero | tr '\0' '['; head -c 1000000 /dev/zero | tr '\0' ']'; }
{ printf '{"a":{"dtype":"F32","shape":'; nested; printf ',"data_offsets":[0,4]}}'; } >header
size=$(stat -c %s header)
{ printf "\\x$(printf %x $((size & 255)))\\x$(printf %x $((size >> 8 & 255)))\\x$(printf %x $((size >> 16 & 255)))\0\0\0\0\0"
  cat header; printf '\0\0\0\0'; } >x.safetensors
echo 'print(pcall(require"gpubench".data.Dataset.safetensors, "x.safetensors"))' >x.lua
run x.lua --out o
((rc == 0)) || fail "safetensors: status $rc, $err"
contains "$out" false 'what Dataset.safetensors returns'
clean "$out"

mkdir -p o/results/e/20260101T000000Z-x
{ printf '{"title":'; nested; printf '}'; } >o/results/e/20260101T000000Z-x/run.json
printf 'a\r\n1\r\n' >o/results/e/20260101T000000Z-x/results.csv
run show --out o
((rc < 128)) || fail "show: status $rc"
clean "$err"
echo 'require"gpubench".experiment{name="y",title="t",run=function() return {v=1.0} end}' >y.lua
run y.lua --out o
((rc == 0)) || fail "a later experiment with the same --out: status $rc, $err"
