# The first history is there whole or not at all, whenever its program is killed, and what an older program left that was
# killed while it made one, an empty file, takes no later night. One that nights have filled is not made anew.
echo 'local gb = require "gpubench" gb.experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >e.lua
for _ in 1 2; do run e.lua -q --out o; done
: >o/results/history.db
: >o/results/history.db-journal
run history --rebuild --out o
((rc == 0)) || fail "an empty file: $err"
contains "$out" '2 runs read'
run history e --out o
((rc == 0)) || fail "history: $err"
echo 'no alarm' >o/results/nightly-quick.txt
rm o/results/history.db* && : >o/results/history.db
run history --rebuild --out o
((rc == 2)) || fail "a history that was cut to nothing: status $rc"
contains "$err" 'it is empty'
rm o/results/nightly-quick.txt

strace -o /dev/null true 2>/dev/null || skip 'no strace, which the rest needs'
for call in openat linkat write pwrite64 fdatasync ftruncate flock rename; do
  for when in 1 2 3; do
    rm -f o/results/history.db*
    # From the first call on that has to do with it.
    strace -f -o /dev/null -P "$PWD/o/results" -P "$PWD/o/results/history.db" -P "$PWD/o/results/history.db-wal" \
      -e trace=$call -e inject=$call:signal=KILL:when=$when "$G" history --rebuild --out o >/dev/null 2>&1 || true
    [[ ! -e o/results/history.db || -s o/results/history.db ]] || fail "killed at $call $when: an empty file"
    run history --rebuild --out o
    ((rc == 0)) || fail "killed at $call $when: $err"
    contains "$out" '2 runs read' "killed at $call $when"
  done
done
