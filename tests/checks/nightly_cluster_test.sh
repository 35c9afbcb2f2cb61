#!/usr/bin/env bash
# The scripts of docs/nightly for many machines, with made-up ssh, kubectl and scontrol: nightly_cluster_test.sh SOURCE
# GPUBENCH
set -euo pipefail
folder=$1/docs/nightly
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir "$top/bin"
ln -s "$2" "$top/bin/gpubench"
export PATH=$top/bin:$PATH GPUBENCH_HISTORIES=$top/histories GPUBENCH_SUITE=$top/night.lua GPUBENCH_OUT=out

fail() {
  echo "nightly_cluster_test.sh: $*" >&2
  exit 1
}

# says FILE TEXT, lacks FILE TEXT
says() { grep -qF -- "$2" "$1" || { cat "$1" >&2 && fail "expected '$2'"; }; }
lacks() { ! grep -qF -- "$2" "$1" || { cat "$1" >&2 && fail "did not expect '$2'"; }; }

tool() {
  printf '#!/bin/bash\n%s\n' "$2" >"$top/bin/$1"
  chmod +x "$top/bin/$1"
}

cat >"$top/steady.lua" <<'LUA'
local gb = require "gpubench"
gb.experiment { name = "steady", title = "t", axes = { gb.axis("n", { 1 }) },
  columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
  run = function() return { figure_s = 1 } end, charts = { gb.chart.bar { x = "n", y = "figure_s" } } }
LUA
echo 'return { minutes = 5, scripts = { "steady" } }' >"$GPUBENCH_SUITE"

night() {
  rc=0
  "$@" >"$top/out" 2>&1 || rc=$?
}

# A machine is a folder; "away" is none.
# shellcheck disable=SC2016  # for the tool
tool ssh 'while [[ $1 == -* ]]; do [[ $1 != -o ]] || shift; shift; done; cd "'"$top"'/machines/$1" && shift && exec sh -c "$*"'
mkdir -p "$top/machines"/{node-1,node2.example.org}
if command -v parallel >/dev/null; then
  printf '%s\n' node-1 away node2.example.org >"$top/nodes"
  night "$folder/ssh.sh" "$top/nodes"
  ((rc == 1)) || { cat "$top/out" && fail "ssh.sh: status $rc although a machine is away"; }
  says "$top/out" 'did not report: away'
  for node in node-1 node2.example.org; do
    says "$top/histories/$node.txt" "night on $node, "
    says <(gpubench history --out "$top" --merge "$top/histories/$node.db") '1 run added'
  done
  # A machine whose disk was wiped leaves its older copy, and is named.
  rm -r "$top/machines/node-1/out"
  ln -s /nonexistent/out "$top/machines/node-1/out"
  printf '%s\n' node-1 node2.example.org >"$top/nodes"
  night "$folder/ssh.sh" "$top/nodes"
  says "$top/out" 'did not report: node-1'
  [[ -s $top/histories/node-1.db && ! -e $top/histories/node-1.db.new ]] || fail "ssh.sh: the older copy is gone"
  says <(gpubench history --out "$top" --merge "$top/histories/node2.example.org.db") '1 run added'
else
  echo "not checked: ssh.sh (GNU parallel is not installed)"
  mkdir -p "$GPUBENCH_HISTORIES"
  (cd "$top/machines/node-1" && gpubench nightly "$GPUBENCH_SUITE" --host node-1 >/dev/null)
  gpubench history --out "$top/machines/node-1" --backup "$GPUBENCH_HISTORIES/node-1.db" >/dev/null
fi

# report.sh: an alarm of a machine is printed; nothing new is status 0.
: >"$top/since"
sleep 0.01
touch "$GPUBENCH_HISTORIES/node-1.db"
echo 'night on node-1, night n: no new alarm' >"$GPUBENCH_HISTORIES/node-1.txt"
night "$folder/report.sh" "$GPUBENCH_HISTORIES" "$top/since" node-1
((rc == 0)) || { cat "$top/out" && fail "report.sh: status $rc without an alarm"; }
printf 'night on node-1, night n: 1 new alarm\nmore\n' >"$GPUBENCH_HISTORIES/node-1.txt"
night "$folder/report.sh" "$GPUBENCH_HISTORIES" "$top/since" node-1
((rc == 1)) || fail "report.sh: status $rc with an alarm"
says "$top/out" 'more'
lacks "$top/out" 'did not report:'
mkdir "$top/none"
night "$folder/report.sh" "$top/none" "$top/since" node-1
((rc == 2)) || fail "report.sh: status $rc without any history"

# kubernetes.sh: a job for each node, with its name, the image and all GPUs.
# shellcheck disable=SC2016  # for the tool
tool kubectl 'echo "kubectl $*" >>"'"$top"'/calls"
case $1 in
  apply) tee -a "'"$top"'/applied" | sed -n "s/.*hostname: //p" | xargs -I{} touch "$GPUBENCH_HISTORIES/{}.db.seen" ;;
  get) [[ $2 != nodes ]] || echo "k1 k2" ;;
esac'
: >"$top/applied"
night "$folder/kubernetes.sh" registry/gpubench:1 8
says "$top/out" 'did not report: k1 k2'
for text in 'name: gpubench-k1' 'kubernetes.io/hostname: k2' 'image: registry/gpubench:1 ' 'nvidia.com/gpu: 8 '; do
  says "$top/applied" "$text"
done
for text in 'hostname: NODE' gpubench-NODE IMAGE GPUS; do lacks <(grep -v '^#' "$top/applied") "$text"; done

# slurm_prolog.sh: once after a boot, and drains only if it is asked to.
tool scontrol 'echo "scontrol $*" >>"'"$top"'/calls"'
tool logger true
rm "$top/bin/gpubench" # a link
# shellcheck disable=SC2016  # for the tool
tool gpubench 'echo "gpubench $*" >>"'"$top"'/calls"; mkdir -p "$GPUBENCH_PROLOG_OUT/results"
cp "'"$top"'/summary" "$GPUBENCH_PROLOG_OUT/results/nightly-quick.txt"; exit "$(cat "'"$top"'/status")"'
# prolog STATUS NEW OPEN MISSING [OPTION]: after a boot, with a night that ends like this
prolog() {
  echo "$1" >"$top/status"
  printf '%s\n' 'quick on n7' 'measured: all' "new: $2" "still open: $3; recovered: none" "not measured: $4" >"$top/summary"
  : >"$top/calls"
  rm -rf "$top/prolog"
  shift 4
  GPUBENCH_PROLOG_OUT=$top/prolog SLURMD_NODENAME=n7 night "$folder/slurm_prolog.sh" "$@"
}
prolog 0 none none none --drain
((rc == 0)) || fail "slurm_prolog.sh: status $rc on a sound node"
says "$top/calls" 'gpubench nightly quick --host n7'
: >"$top/calls"
GPUBENCH_PROLOG_OUT=$top/prolog SLURMD_NODENAME=n7 night "$folder/slurm_prolog.sh" --drain
[[ $rc == 0 && ! -s $top/calls ]] || fail "slurm_prolog.sh: measured twice after one boot"
prolog 1 '#7f3k2qa9 lost' none none
((rc == 0)) || fail "slurm_prolog.sh: status $rc without --drain"
lacks "$top/calls" scontrol
prolog 1 '#7f3k2qa9 lost' none none --drain
((rc == 1)) || fail "slurm_prolog.sh: status $rc on a node that is not sound"
says "$top/calls" 'scontrol update nodename=n7 state=drain reason=gpubench: new: #7f3k2qa9 lost'
# What was told before is as bad, and what others disturb says nothing.
prolog 0 none none 'gpu:1: there is no such device, since 2026-03-01' --drain
says "$top/calls" 'reason=gpubench: not measured: gpu:1: there is no such device'
prolog 0 none '#7f3k2qa9' none --drain
says "$top/calls" 'reason=gpubench: still open: #7f3k2qa9'
prolog 2 none none none --drain
says "$top/calls" 'reason=gpubench: status 2'
prolog 3 none none 'kernels on gpu:0: nothing measured' --drain
((rc == 0)) || fail "slurm_prolog.sh: status $rc on a node that others used"
lacks "$top/calls" scontrol
echo "machines are measured by ssh and Kubernetes, and qualified after a boot"
