#!/usr/bin/env bash
# A disk that fills in the middle of a night: the reasons are named, what was there stays, and once there is space the runs
# that are whole get into the history: night_on_full_disk_test.sh PROGRAM
set -euo pipefail
G=$(realpath "$1")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cd "$top"
fail() { echo "night_on_full_disk_test.sh: $*" >&2 && exit 1; }

cat >steady.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "steady", title = "t", axes = { gb.axis("n", { 1 }) },
  columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
  run = function() return { figure_s = 1 } end, charts = { gb.chart.bar { x = "n", y = "figure_s" } } }
S
echo 'return { minutes = 5, scripts = { "steady", "steady", "steady", "steady" } }' >night.lua

inside() {
  mount -t tmpfs -o size="$1"k none disk || exit 77
  "$G" nightly night.lua --out disk >said 2>err && rc=0 || rc=$?
  ((rc == 2)) || fail "$1 KiB: status $rc: $(cat err)"
  grep -q 'No space left\|the disk is full' err || fail "$1 KiB: no reason in: $(cat err)"
  before=$("$G" history steady --out disk --format csv 2>err | grep -c ,figure_s,) || true
  find disk -name 'report.html' -delete
  rm -rf disk/plots disk/results/index.html
  mount -o remount,size=4096k disk
  "$G" history --rebuild --out disk >said 2>err || fail "$1 KiB: rebuild: $(cat err)"
  after=$("$G" history steady --out disk --format csv | grep -c ,figure_s,)
  ((after >= 1 && after >= before)) || fail "$1 KiB: $before values before, $after after"
  "$G" nightly night.lua --out disk >said 2>err || fail "$1 KiB: with space: $(cat err)"
  [[ -z $(find disk -name history.pending) ]] || fail "$1 KiB: runs still wait"
}
export -f inside fail
export G
mkdir disk
for size in 170 220 260; do
  unshare --mount --map-root-user bash -euo pipefail -c "inside $size" || {
    rc=$?
    ((rc != 1)) || exit 1
    echo "skipped: no file system can be mounted here" && exit 77
  }
done
