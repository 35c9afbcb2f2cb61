# Of an archive only the files of its run are kept; what it unpacks to has limits as a whole, which messages name.
cat >x.lua <<'S'
require "gpubench".experiment { name = "e", title = "t", run = function() return { v = 1.5 } end }
S
run x.lua --out o && run pack o/results/e/* --file good.tar.gz
mkdir tree && tar -xzf good.tar.gz -C tree
folder=$(cd tree && echo */results/e/*)
within_1_gib() { (ulimit -v 1600000 && run "$@" && printf '%s\n%s' "$rc" "$out$err" >said) || fail "$(cat said)"; }
# archived FILE...: an archive of the run and these sparse files.
archived() { tar -C tree -c --format=ustar "${folder%%/*}" "$@" | gzip -1 >x.tar.gz; }
mkdir tree/more
for size in 900M 200M; do truncate -s "$size" "tree/more/z$size"; done
archived more/z900M
within_1_gib show x.tar.gz
contains "$(cat said)" "run " "a file of 900 MiB that is no file of the run"
archived more/z900M more/z200M
within_1_gib show x.tar.gz
contains "$(cat said)" "x.tar.gz: unpacks to more than 1073741824 bytes"
within_1_gib compare x.tar.gz good.tar.gz
contains "$(cat said)" "x.tar.gz: unpacks to more than 1073741824 bytes"
rm tree/more/*
# Zeros behind the end.
truncate -s 1100M zeros && { gzip -dc good.tar.gz && cat zeros; } | gzip -1 >x.tar.gz && rm zeros
within_1_gib show x.tar.gz
contains "$(cat said)" "x.tar.gz: unpacks to more than 1073741824 bytes"
{ gzip -dc good.tar.gz && head -c 10240 /dev/zero; } | gzip -1 >x.tar.gz
run show x.tar.gz
((rc == 0)) || fail "padding of tar: $err"
# Entries.
(cd tree/more && seq -f 'f%g' 10001 | xargs touch)
archived more
run show x.tar.gz
contains "$err" "x.tar.gz: has more than 10000 entries"
rm -r tree/more
# A file of the run.
cp "tree/$folder/results.csv" table
truncate -s 70M "tree/$folder/results.csv"
archived
within_1_gib show x.tar.gz
contains "$(cat said)" "results.csv' has 73400320 bytes; at most 67108864 are read"
cp table "tree/$folder/results.csv"
archived
run show x.tar.gz
((rc == 0)) || fail "$err"
