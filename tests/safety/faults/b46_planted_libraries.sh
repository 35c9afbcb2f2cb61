# Libraries that lie in the working folder are not loaded: the program has no search path that is relative to it.
path=$(readelf -d "$G" | grep -E 'RPATH|RUNPATH' | grep -o '\[.*\]' || true)
for entry in $(tr ':' '\n' <<<"${path//[\[\]]/}" | sed 's/^$/EMPTY/'); do
  [[ $entry == /* || $entry == '$ORIGIN'* ]] || [[ -z $path ]] || fail "the program's search path has the entry '$entry': $path"
done
echo 'int planted;' >planted.c
g++ -shared -fPIC -x c++ -o libcuda.so.1 planted.c -Wl,--undefined=nothing_has_this
for library in libnvidia-ml.so.1 libmpi.so.40 libfmt.so.9 libdnnl.so.2 liblua5.4-c++.so.0; do cp libcuda.so.1 $library; done
echo 'local gb = require"gpubench" for line in io.lines "/proc/self/maps" do
  if line:find(os.getenv "PWD", 1, true) then print(line) end end
  gb.experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >x.lua
run x.lua --out o
((rc == 0)) || fail "status $rc: $err"
lacks "$out" "$PWD" 'what is loaded'
