# Wrong calls are told in the program's own words, with the line of the script.
# wrong NAME SCRIPT: must fail, or give false by pcall, without what a library or Lua's own checks say.
wrong() {
  echo "local gb = require 'gpubench' $2" >"$1.lua"
  run "$1.lua" --out o
  [[ $rc == 2 || $out == *false* ]] || fail "$1: status $rc: $out"
  clean "$out$err"
  lacks "$out$err" 'table index is' "$1"
  lacks "$out$err" 'cannot close a running coroutine' "$1"
  lacks "$out$err" "bad argument #1 to 'for iterator'" "$1"
  lacks "$out$err" 'gpubench/' "$1: a place in the program's own library"
}
wrong nan_axis "gb.axis('n', { 0 / 0 })"
wrong nan_axis_declared "gb.experiment { name = 'e', title = 't', axes = { gb.axis('n', { 1, 0 / 0 }) }, run = function() end }"
wrong rows_and_numbers "gb.experiment { name = 'e', title = 't', run = function() return { { v = 1 }, 5 } end }"
wrong apply_gradients "gb.optimizers.SGD {}:apply_gradients(5)"
wrong apply_gradients_pairs "gb.optimizers.SGD {}:apply_gradients { 5 }"
wrong sum_with_text "return gb.ones { 2 } + 'x'"
wrong text_with_sum "return 'x' + gb.ones { 2 }"
wrong negative_length "gb.tensor(setmetatable({}, { __len = function() return -5 end }))"
wrong open_nothing "io.open('', 'w')"
wrong open_a_long_name "io.open('o/' .. ('x'):rep(300), 'w'):write 'x'"
wrong experiment_of_a_long_name "gb.experiment { name = ('x'):rep(300), title = 't', run = function() end }"
wrong iterator_in_its_own_generator "local it
  local d = gb.data.Dataset.from_generator(function() it:close() coroutine.yield(1) end, { types = { 'int64' } })
  it = d:iter() it()"
mkdir -p kept && chmod 700 kept
echo 'require"gpubench".experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >x.lua
for_everyone
[[ $EUID == 0 ]] || chmod 000 kept
unprivileged "$G" x.lua --out kept/x >said 2>err && fail 'wrote to a folder that is kept from its user'
clean "$(cat err)"
contains "$(cat err)" kept/x
