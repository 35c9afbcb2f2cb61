# A suite and the titles of listed scripts are read and never run: neither can hang, take memory, or call anything.
limit_s=10
echo 'local gb = require "gpubench" gb.experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >e.lua

# refused SUITE WORD...: the error has each word.
refused() {
  local suite=$1
  shift
  printf '%s\n' "$suite" >s.lua
  run nightly s.lua --dry-run
  ((rc == 2)) || fail "${suite:0:80}: status $rc: $out $err"
  local word
  for word in 's.lua' "$@"; do contains "$err" "$word" "${suite:0:80}"; done
  clean "$err"
  lacks "$err" 'gpubench/suite.lua' "${suite:0:80}"
  ((${#err} < 600)) || fail "${suite:0:80}: ${#err} bytes of message"
}
for code in 'while true do end' 'local s = ("x"):rep(1 << 40)' 'goto a ::a::' 'os.execute "touch pwned"' 'error {}'; do
  refused "$code" "'return' expected" 'call nothing'
done
for value in '("x"):rep(1 << 40)' '"x":rep(1 << 40)' 'f()' '#"x"' '0/0' '1 << 62' 'function() end' '"a" .. f' 'setmetatable' '...' '2 ^ 9'; do
  refused "return { minutes = 1, scripts = { $value } }" s.lua:1 'call nothing'
done
deep=$(printf '{%.0s' {1..50000})
refused "return $deep" 'nested'
refused "return { minutes = 1, scripts = { '$(printf 'x%.0s' {1..60000})' } }" 'script 1'
for number in 1e308 1e999 -1e999 0 -5 -0.0 0x7fffffffffffffff 9223372036854775807; do
  for field in minutes budget timeout; do
    [[ $field == minutes ]] && rest= || rest='minutes = 1,'
    refused "return { $rest $field = $number, scripts = { 'e' } }" "$field: a number above 0 expected"
    refused "return { minutes = 1, scripts = { { 'e', $field = $number } } }" "$field: a number above 0 expected"
  done
done
for number in 1e308 1e999 -1e999 -5; do
  refused "return { minutes = 1, wait_idle = $number, scripts = { 'e' } }" 'wait_idle: seconds from 0'
  refused "return { minutes = 1, free_memory_bytes = $number, scripts = { 'e' } }" 'free_memory_bytes: bytes from 0'
done
for devices in '{ "" }' '{ "../x" }' '{ "a b" }' '{ "\27[31m" }' '{ 5 }' '{ {} }' '{ "--trusted" }' '"gpu"' '{ n = 1 }' '{ "gpu", nil, "cpu" }'; do
  refused "return { minutes = 1, devices = $devices, scripts = { 'e' } }" devices
  refused "return { minutes = 1, scripts = { { 'e', devices = $devices } } }" devices
done
for set in '{ ["--trusted"] = 1 }' '{ ["a=1"] = 2 }' '{ 2 }' '{ [true] = 4 }' '{ a = {} }' '{ a = { {} } }' '{ a = { b = 1 } }' '{ a = "\0" }' \
  '{ a = "x\ny" }' '{ a = 1e999 }' '{ [""] = 1 }' '5'; do
  refused "return { minutes = 1, scripts = { { 'e', set = $set } } }" set
done
for name in '""' '"../x"' '".x"' '"a\0"' '"\27[31m"' "'$(printf 'x%.0s' {1..300})'" '5'; do
  refused "return { minutes = 1, name = $name, scripts = { 'e' } }" name
done
for script in '""' '"e\0"' '"e\n"' '{}' '{ {} }' '{ 5 }' '5' 'true' '"/dev/zero"' '"/dev/stdin"' '"f"' '"d"' '"."' '"/"'; do
  refused "return { minutes = 1, scripts = { $script } }" 'script 1'
done
for suite in /dev/zero /dev/stdin f f.lua d d.lua / ''; do
  mkdir -p d.lua
  [[ -e f.lua ]] || mkfifo f.lua
  run nightly "$suite" --dry-run
  ((rc == 2)) || fail "'$suite': status $rc"
done
truncate -s 1G big.lua
run nightly big.lua --dry-run
((rc == 2)) || fail "big: status $rc"
contains "$err" 'at most 1048576 are possible'
[[ ! -e pwned ]] || fail "a suite has run a program"

# What a suite may contain.
cat >good.lua <<'S'
-- A suite
return {
  minutes = 0x1E, devices = { "cpu" }, wait_idle = 0, free_memory_bytes = 8e9, quick = true, allow_throttled = false,
  name = "go" .. 'od', scripts = { "e", { [1] = [[e]]; set = {}, once = true, minutes = .5 }, }, --[[ the end ]]
};
S
run nightly good.lua --dry-run
((rc == 0)) || fail "good: status $rc: $err"
contains "$out" '2 script runs within 30 min'
for minutes in 1e308 20000; do
  run nightly good.lua --dry-run --minutes $minutes
  ((rc == 2)) || fail "--minutes $minutes: status $rc: $out"
done

# Titles.
mkdir l
title() {
  printf 'local gb = require "gpubench"\ngb.experiment { name = "a", title = %s\n, run = function() end }\n' "$1" >l/a.lua
  for options in '' --long --json --names; do
    run list l $options
    ((rc == 0)) || fail "title ${1:0:80}: status $rc: $err"
    clean "$out$err"
  done
  run list l --json
  contains "$out" "$2" "title ${1:0:80}"
}
none='(its title is not a plain string)'
title '"a\\"..(function() while true do end end)()--"' "$none"
title '"a\\"..("x"):rep(1 << 40)..""' "$none"
title '"\\" and {} or "b"' "$none"
title '"x" .. {}' "$none"
title 'f "x"' "$none"
title '"unfinished' "$none"
title '"a" .. [[b]] .. "\x63"' '"title":"abc"'
title '"\27[31m\0\255"' '\u001b[31m'
title '" { } -- gb.experiment { title = 1 "' '-- gb.experiment'
title "$(printf '"x" .. %.0s' {1..20000})'y'" xxxy
printf 'gb.experiment %s' "$deep" >l/a.lua
mkfifo l/fifo.lua && truncate -s 1G l/big.lua && mkdir l/folder.lua && ln -s /dev/zero l/zero.lua && ln -s missing l/gone.lua
run list l
((rc == 0)) || fail "list: status $rc: $err"
contains "$err" 'l/big.lua'
for settings in l/fifo.lua l/big.lua l/folder.lua l/zero.lua l/a.lua $'\e[31m' ''; do
  run list --settings "$settings"
  ((rc == 0 || rc == 2)) || fail "list --settings $settings: status $rc"
  clean "$err"
done
