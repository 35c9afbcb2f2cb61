#!/usr/bin/env bash
# The scripts of docs/nightly for Slurm, with two nodes of a Slurm of our own on this machine: slurm_test.sh SOURCE
# GPUBENCH. Status 77: there is no Slurm here, or it cannot be started.
set -euo pipefail
folder=$1/docs/nightly

skip() {
  echo "skipped: $*"
  exit 77
}

for tool in slurmctld slurmd sbatch squeue srun munged flock; do
  command -v "$tool" >/dev/null || skip "there is no $tool (Debian: slurm-wlm, munge)"
done
top=$(mktemp -d /tmp/slurm_test.XXXXXX) # a socket's path is at most 107 characters long
host=$(hostname -s)
export SLURM_CONF=$top/slurm.conf GPUBENCH_HISTORIES=$top/histories GPUBENCH_SUITE=$top/night.lua
mkdir -p "$top"/{bin,state,run,a/tmp,b/tmp}
ln -s "$2" "$top/bin/gpubench"
export PATH=$top/bin:$PATH

# shellcheck disable=SC2317  # called by the trap
stop() {
  for id in "$top"/run/*.pid; do
    [[ ! -s $id ]] || kill "$(cat "$id")" 2>/dev/null || true
  done
  sleep 1
  rm -rf "$top"
}
trap stop EXIT

fail() {
  echo "slurm_test.sh: $*" >&2
  for file in "$top/out" "$top"/*.log "$GPUBENCH_HISTORIES"/*.log; do
    [[ ! -s $file ]] || { echo "--- $file" && tail -n 20 "$file"; } >&2
  done
  exit 1
}
says() { grep -qF -- "$2" "$1" || fail "expected '$2' in $1"; }

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

user=$(id -un)
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$top/run/munge.socket
CredType=cred/munge
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/%n
SlurmctldPidFile=$top/run/slurmctld.pid
SlurmdPidFile=$top/run/%n.pid
SlurmctldLogFile=$top/slurmctld.log
SlurmdLogFile=$top/%n.log
TmpFS=$top/%n/tmp
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
TaskProlog=$top/task_prolog.sh
Prolog=$top/prolog.sh
NodeName=a NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=2
NodeName=b NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=2
PartitionName=all Nodes=a,b Default=YES MaxTime=INFINITE State=UP
CONF
# Both nodes have one disk.
cat >"$top/task_prolog.sh" <<PROLOG
#!/bin/sh
echo "export GPUBENCH_OUT=$top/out-\$SLURMD_NODENAME"
PROLOG
cat >"$top/prolog.sh" <<PROLOG
#!/bin/sh
[ -e "$top/qualify" ] || exit 0
export GPUBENCH_PROLOG_OUT="$top/prolog-\$SLURMD_NODENAME" PATH="$top/stub:\$PATH:/usr/bin:/bin"
exec "$folder/slurm_prolog.sh" --drain
PROLOG
chmod +x "$top"/*.sh
dd if=/dev/urandom of="$top/run/munge.key" bs=128 count=1 2>/dev/null
chmod 400 "$top/run/munge.key"
chmod 755 "$top" "$top/run"
munged --socket="$top/run/munge.socket" --key-file="$top/run/munge.key" --pid-file="$top/run/munge.pid" \
  --log-file="$top/run/munge.log" --seed-file="$top/run/munge.seed" || skip "munged does not start"
slurmctld || skip "slurmctld does not start"
for node in a b; do slurmd -N "$node" || skip "slurmd does not start"; done
for ((i = 0; i < 40; ++i)); do
  [[ $(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | sort | xargs) != "a b" ]] || break
  sleep 0.5
done
((i < 40)) || skip "the nodes do not become idle: $(sinfo --noheader 2>&1 | xargs)"

cat >"$top/together.lua" <<'LUA'
local gb = require "gpubench"
gb.experiment { name = "together", title = "t", axes = { gb.axis("n", { 1 }) },
  columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
  run = function() return { figure_s = gb.distribute.num_processes() } end,
  charts = { gb.chart.bar { x = "n", y = "figure_s" } } }
LUA
echo 'return { minutes = 5, scripts = { "together", { "together", processes = 2, launcher = "srun" } } }' >"$GPUBENCH_SUITE"

night() {
  rc=0
  "$folder/slurm.sh" "$@" >"$top/out" 2>&1 || rc=$?
}

# All nodes, each with a night and a history of its own.
export ASAN_OPTIONS=detect_leaks=0
night
((rc == 0)) || fail "status $rc of a night without an alarm"
for node in a b; do
  says "$GPUBENCH_HISTORIES/$node.txt" "night on $node, "
  says "$GPUBENCH_HISTORIES/$node.txt" 'measured: 2 of 2 script runs'
  gpubench history --out "$top/$node-copy" --merge "$GPUBENCH_HISTORIES/$node.db" >"$top/out"
  says "$top/out" '2 runs added'
  gpubench history together --out "$top/$node-copy" --format csv >"$top/out"
  grep -q 'n=1 processes=2,figure_s,.*,2.0,,,true' "$top/out" || fail "srun started no two processes on $node"
done

# In a job of two nodes srun starts a process on each.
sbatch --wait --quiet --nodes=2 --ntasks-per-node=1 --exclusive --output="$top/two.log" --export=ALL,SLURM_MPI_TYPE=pmix \
  --wrap="gpubench nightly '$GPUBENCH_SUITE' --host both --out '$top/both'" || fail "the night of two nodes"
says "$top/a.log" 'launch task StepId=3.0'
says "$top/b.log" 'launch task StepId=3.0'
says "$top/two.log" 'together in 2 processes: done'

# A node that is down, and one that Slurm does not know: they are named after the time, and the other is measured.
scontrol update nodename=b state=down reason=test
GPUBENCH_MINUTES=1 night a b c
((rc == 1)) || fail "status $rc although nodes did not report"
says "$top/out" 'did not report: b c'
says "$top/out" 'b: PENDING ('
[[ -z $(squeue --noheader) ]] || fail "a job of the night waits on"
gpubench history --out "$top/a-copy" --merge "$GPUBENCH_HISTORIES/a.db" >"$top/out"
says "$top/out" '2 runs added'
scontrol update nodename=b state=resume

# After a boot a node that is not sound is drained by the prolog, and the job waits for another.
mkdir "$top/stub"
cat >"$top/stub/gpubench" <<STUB
#!/bin/sh
mkdir -p "\$GPUBENCH_PROLOG_OUT/results"
printf '%s\n' quick measured 'new: #7f3k2qa9 gpu:1 is gone' 'still open: none' 'not measured: none' \
  >"\$GPUBENCH_PROLOG_OUT/results/nightly-quick.txt"
exit 1
STUB
chmod +x "$top/stub/gpubench"
touch "$top/qualify"
job=$(sbatch --parsable --nodelist=a --output="$top/job.log" --wrap=true)
for ((i = 0; i < 60; ++i)); do
  [[ $(sinfo --noheader --nodes=a --format='%T %E') != drain*gpubench* ]] || break
  sleep 0.5
done
((i < 60)) || fail "the node is $(sinfo --noheader --nodes=a --format='%T (%E)'), not drained"
[[ $(sinfo --noheader --nodes=a --format=%60E) == *'gpubench: new: #7f3k2qa9 gpu:1 is gone'* ]] || fail "no reason: $(sinfo --noheader --nodes=a --format=%60E)"
scancel "$job"
echo "each node has a night of its own, who did not report is named, and the prolog drains a node that is not sound"
