# Signals and --timeout stop Lua code wherever coroutines, closing handlers and finalizers have brought it: `endless`
# stands there and waits for them. The program ends by itself, not by its watchdog.
declare -A bodies=(
  [behind_a_close]='close_with(function() coroutine.wrap(function() end)() end) endless()'
  [in_a_closing_handler]='close_with(endless)'
  [in_a_coroutine_of_a_closing_handler]='close_with(function() coroutine.wrap(endless)() end)'
  [behind_a_coroutine_of_a_closing_handler]='close_with(function() coroutine.wrap(function() end)() endless() end)'
  [in_a_handler_of_a_failed_wrap]='coroutine.wrap(function() local _ <close> = closing(endless) error "odd" end)()'
  [behind_a_failed_wrap]='pcall(coroutine.wrap(function()
      local _ <close> = closing(function() coroutine.wrap(function() end)() end) error "odd" end)) endless()'
  [in_a_close_in_a_close]='close_with(function() close_with(function() close_with(endless) end) end)'
  [behind_a_yield]='local co = coroutine.wrap(function() coroutine.yield() endless() end) co() co()'
  [in_a_coroutine_kept_by_others]='local co = coroutine.wrap(function() while true do coroutine.yield() end end)
    ready() while true do co() end'
  [in_resumes]='ready() while true do coroutine.resume(coroutine.create(function() coroutine.yield() end)) end'
  [in_closes]='ready() while true do close_with(function() coroutine.wrap(function() end)() end) end'
  [in_failing_closes]='ready() while true do pcall(close_with, error) end'
  [in_a_sort_in_a_coroutine]='coroutine.wrap(function() table.sort({ 2, 1 }, endless) end)()'
  [in_a_replacement_in_a_coroutine]='coroutine.wrap(string.gsub)("a", "a", endless)'
  [in_a_handler_of_errors_in_a_coroutine]='coroutine.wrap(function() xpcall(error, endless) end)()'
  [in_a_callback_behind_a_close]='close_with(function() coroutine.wrap(function() end)() end)
    model:fit(x, y, { verbose = 0, callbacks = { { on_epoch_end = endless } } })'
  [in_a_coroutine_of_a_callback]='model:fit(x, y, { verbose = 0, callbacks = { { on_epoch_end = coroutine.wrap(endless) } } })'
  [in_a_handler_of_a_callback]='model:fit(x, y, { verbose = 0, callbacks = { { on_epoch_end = function()
      local _ <close> = closing(endless) end } } })'
  [in_a_generator]='for _ in gb.data.Dataset.from_generator(function() coroutine.yield(1) endless() end,
      { types = { "int64" } }) do end'
  [in_a_handler_of_a_generator]='for _ in gb.data.Dataset.from_generator(function()
      local _ <close> = closing(endless) coroutine.yield(1) end, { types = { "int64" } }) do end'
  [in_a_map]='gb.data.Dataset.range(2):map(function(v) coroutine.wrap(endless)() return v end)'
  [in_steps]='ready() while true do model:fit(x, y, { verbose = 0, callbacks = { { on_batch_end = function()
      close_with(function() coroutine.wrap(function() end)() end) end } } }) end'
  [in_a_loop_that_catches]='while true do pcall(coroutine.wrap(function() close_with(endless) end)) end'
)

# write_script NAME TEXT: NAME.lua with what all scripts have, and TEXT.
write_script() {
  cat >"$1.lua" <<S
local gb = require "gpubench"
local function ready() io.stdout:write "here\n" io.stdout:flush() end
local function endless() ready() while true do end end
local function closing(body) return setmetatable({}, { __close = body }) end
local function close_with(body)
  local co = coroutine.create(function() local _ <close> = closing(body) coroutine.yield() end)
  coroutine.resume(co)
  local ok, reason = coroutine.close(co)
  if not ok then error(reason, 0) end
end
local function made()
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model, gb.ones { 4, 3 }, gb.ones { 4, 2 }
end
$2
S
}

signals=(INT TERM) ends=(130 143) said=(interrupted 'interrupted by SIGTERM') turn=0
for name in "${!bodies[@]}"; do
  write_script "$name" "local file = io.open('o/results/file', 'w') file:write 'whole' local model, x, y = made() ${bodies[$name]}"
  rm -rf o && mkdir o && : >here
  limited sh -c 'echo $$ >process && exec "$@"' sh "$G" "$name.lua" --out o >here 2>err &
  waited=$!
  for _ in {1..3000}; do grep -q here here && break; sleep 0.02; done
  grep -q here here || fail "$name: it did not happen: $(cat err)"
  kill "-${signals[turn]}" "$(<process)"
  rc=0
  wait "$waited" || rc=$?
  ((rc == ends[turn])) || fail "$name: SIG${signals[turn]}: status $rc: $(cat err)"
  [[ $(cat err) == "${said[turn]}" ]] || fail "$name: SIG${signals[turn]}: $(cat err)"
  [[ $(<o/results/file) == whole ]] || fail "$name: SIG${signals[turn]}: ended by force"  # what was not written yet is lost then
  turn=$((1 - turn))
done

# A time limit stops one point, and the next one runs as if nothing had been.
for name in behind_a_close in_a_closing_handler in_a_coroutine_of_a_closing_handler in_closes in_a_callback_behind_a_close \
  in_a_handler_of_a_generator; do
  write_script "$name" "gb.experiment { name = 's', title = 't', axes = { gb.axis('n', { 1, 2 }) }, run = function(p)
  local model, x, y = made()
  if p.n == 1 then ${bodies[$name]} end
  local seen = 0
  model:fit(x, y, { verbose = 0, callbacks = { { on_epoch_end = function() seen = seen + 1 collectgarbage() end } } })
  return { v = seen }
end }"
  rm -rf o
  run "$name.lua" --out o --timeout 3
  ((rc == 0)) || fail "$name: --timeout: status $rc: $err"
  grep -q '^s,1,0,1,timeout,' o/results/s/*/results.csv || fail "$name: no row of the status timeout"
  grep -q '^s,2,0,2,ok,' o/results/s/*/results.csv || fail "$name: the point behind the one that timed out"
done
