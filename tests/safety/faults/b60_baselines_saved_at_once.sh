# Many saves of one baseline at once leave one of them, whole, and each says whether it saved; one that is killed at any
# system call leaves the old or the new one, which the next save replaces. Also where two folders cannot be exchanged.
echo 'local gb = require "gpubench" gb.experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >e.lua
for _ in 1 2 3; do run e.lua -q --out o; done
mapfile -t runs < <(printf '%s\n' o/results/e/*)
sets=("${runs[0]}" "${runs[0]} ${runs[1]}" "${runs[0]} ${runs[1]} ${runs[2]}")

# whole: the baseline v1 has the runs of one set; nothing else is left.
whole() {
  local there
  there=$(cd o/baselines/v1/e 2>/dev/null && printf 'o/results/e/%s\n' * | paste -sd ' ' || echo none)
  [[ $there == "${sets[0]}" || $there == "${sets[1]}" || $there == "${sets[2]}" ]] || fail "$1: v1 has $there"
  for file in o/baselines/v1/e/*; do
    cmp -s "$file/results.csv" "o/results/e/${file##*/}/results.csv" || fail "$1: $file/results.csv is another one"
    [[ -s $file/run.json && -s $file/script.lua ]] || fail "$1: $file lacks a file"
  done
}

for round in 1 2; do
  for n in {1..50}; do limited "$G" baseline save v1 ${sets[n % 3]} --out o >"said$n" 2>&1 & done
  for n in {1..20}; do limited "$G" compare v1 "${runs[0]}" --out o >"read$n" 2>&1 || true; done
  wait
  for n in {1..50}; do
    count=$((n % 3 + 1))
    contains "$(cat "said$n")" "saved $count run$( ((count == 1)) || echo s) as o/baselines/v1" "save $n of round $round"
  done
  whole "round $round"
  [[ $(ls -A o/baselines) == v1 ]] || fail "left: $(ls -A o/baselines)"
  ! grep -lE 'cannot be (read|opened)|cannot open|No such file|has no results|is cut' read* || fail "compare: $(cat read*)"
done

strace -o /dev/null true 2>/dev/null || skip 'no strace, which the rest needs'
run baseline save v1 "${runs[0]}" --out o
for how in '' '-e inject=renameat2:error=EINVAL'; do
  # With renameat2 refused, strace can kill only at others.
  for call in rename mkdir linkat fdatasync unlinkat renameat2; do
    [[ -z $how || $call != renameat2 ]] || continue
    for when in 1 2 5; do
      strace -f -o /dev/null -e trace=rename,mkdir,linkat,fdatasync,unlinkat,renameat2 $how \
        -e inject=$call:signal=KILL:when=$when "$G" baseline save v1 ${sets[when % 3]} --out o >/dev/null 2>&1 || true
      run baseline list --out o
      contains "$out" 'v1 ' "killed at $call $when $how"
      whole "killed at $call $when $how"
      run compare v1 "${runs[0]}" --out o
      ((rc != 2)) || fail "killed at $call $when $how: compare: $err"
    done
  done
  strace -f -o /dev/null -e trace=renameat2 $how "$G" baseline save v1 ${sets[1]} --out o >said 2>&1 || fail "$(cat said)"
  whole "after it"
  [[ $(ls -A o/baselines) == v1 ]] || fail "left $how: $(ls -A o/baselines)"
done
