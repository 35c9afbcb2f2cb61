#!/usr/bin/env bash
# gpu_times_test.sh ROOT PROGRAM: the profiles of emulated accelerators fit measured times that they were not fitted to.
# Skipped (77) where the measured times are not there.
set -euo pipefail
root=$1 program=$2
folder=$root/../shared/data/gpu_times
if [[ ! -f $folder/linear.csv ]]; then
  echo "skipped: there are no measured times in $folder"
  exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$program" "$root/tests/truth/gpu_times.lua" --set "folder=$folder" --out "$out"
