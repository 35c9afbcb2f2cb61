#!/bin/sh
# Slurm: sbatch --array=0-7 docs/nightly/slurm.sh runs the suite on 8 nodes, each alone on its node and with a history of
# its own on the node's disk (SQLite's log needs a local disk). It needs the sqlite3 command. Join the histories
# afterwards on one machine:
#   for file in histories/*.db; do gpubench history --merge "$file"; done
#SBATCH --job-name=gpubench
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --time=00:45:00
#SBATCH --signal=B:TERM@60
#SBATCH --output=gpubench-%A_%a.txt
set -u
out=${GPUBENCH_OUT:-/var/tmp/gpubench}
shared=${GPUBENCH_HISTORIES:-$SLURM_SUBMIT_DIR/histories}
mkdir -p "$out" "$shared"
# A minute before the time ends Slurm tells this shell, which tells the night: it ends with its summary.
trap 'kill -TERM "$night" 2>/dev/null' TERM
gpubench nightly nightly --out "$out" &
night=$!
wait "$night"
status=$?
if kill -0 "$night" 2>/dev/null; then  # the signal ended the wait, not the night
  wait "$night"
  status=$?
fi
# A copy that is whole also while another program writes.
sqlite3 "$out/results/history.db" ".backup '$shared/$(hostname).db'"
exit "$status"
