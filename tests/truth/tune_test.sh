#!/usr/bin/env bash
# The slow scripts of tests/truth/tune: gpubench tune tries the remedy of each, and records it. What it gains depends on the
# machine, and is not asked here: tune_test.sh SOURCE PROGRAM
set -euo pipefail
source=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count=0
for script in $(grep -l 'remedy = "' "$source"/tests/truth/tune/*.lua); do
  name=$(basename "$script" .lua) rc=0
  remedy=$(sed -n 's/.*remedy = "\([a-z_0-9]*\)".*/\1/p' "$script")
  "$program" tune "$script" --out "$work" --budget 0.002 --remedy "$remedy" >"$work/out" 2>"$work/err" || rc=$?
  ((rc == 0 || rc == 3)) || { echo "$name: status $rc" && cat "$work/err" && exit 1; }
  grep -q "^trying $remedy$" "$work/err" || { echo "$name: $remedy was not tried" && cat "$work/out" "$work/err" && exit 1; }
  ! grep -q "it fails: " "$work/out" || { echo "$name: $remedy fails" && cat "$work/out" && exit 1; }
  cat "$work"/results/tune_"$name"*/*/results.csv >"$work/rows"
  grep -q "$remedy" "$work/rows" || { echo "$name: no row of $remedy" && cat "$work/rows" && exit 1; }
  rm -rf "$work/results" "$work/plots"
  count=$((count + 1))
done
echo "$count scripts"
