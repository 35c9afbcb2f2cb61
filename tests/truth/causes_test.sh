#!/usr/bin/env bash
# causes_test.sh ROOT PROGRAM: the findings name the causes of configurations on emulated devices. Skipped (77) where the
# machine does not become idle within 20 s: other programs would be the cause then.
set -euo pipefail
root=$1 program=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cat >"$out/idle.lua" <<'LUA'
local native = require("gpubench")._native
print((native.contention.wait_idle(20)) and "idle" or "busy")
LUA
if [[ $("$program" "$out/idle.lua" --out "$out") != idle ]]; then
  echo "skipped: other programs use the processors"
  exit 77
fi
GPUBENCH_PATH=$root/tests/truth/causes "$program" "$root/tests/truth/causes/causes.lua" --out "$out"
