# Names of any length stand in the first column of a list.
long=$(printf 'n%.0s' {1..200})
mkdir -p "l/$long" "l/%s%d"
for file in "l/$long/a.lua" "l/$long.lua" "l/%s%d/%5.lua" 'l/%-500s.lua'; do
  echo 'local gb = require "gpubench" gb.experiment { name = "a", title = "A %s title", run = function() return { v = 1 } end }' >"$file"
done
for folder in l "l/$long" "l/%s%d"; do
  for options in '' --long --json --names; do
    run list "$folder" $options
    ((rc == 0)) || fail "list $folder $options: status $rc: $err"
    clean "$out$err"
  done
done
run list l
contains "$out" "  l/$long.lua  A %s title"
run "l/$long.lua"
((rc == 0)) || fail "run: status $rc: $err"
for name in "$(printf 'b%.0s' {1..99})" "$(printf 'b%.0s' {1..100})" "$long"; do
  run baseline save "$name"
  ((rc == 0)) || fail "save: status $rc: $err"
  run baseline list
  ((rc == 0)) || fail "baseline list: status $rc: $err"
  contains "$out" "$name  1 process"
done
for command in show history devices; do
  run $command
  ((rc == 0 || rc == 2)) || fail "$command: status $rc: $err"
  clean "$out$err"
done
