#!/usr/bin/env bash
# causes_test.sh ROOT PROGRAM: the findings name most causes of configurations on emulated devices, also beside other
# programs, whose noise is why the bars are low here. The full bars are for an idle machine (causes.lua says how).
set -euo pipefail
root=$1 program=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
GPUBENCH_PATH=$root/tests/truth/causes "$program" "$root/tests/truth/causes/causes.lua" --out "$out" \
  --set busy=true --set lenient=true --set budget=0.2
