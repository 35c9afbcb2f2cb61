#!/bin/sh
# Slurm, the job of one node, which slurm.sh submits: slurm_job.sh SUITE HISTORIES. The node keeps its own history on its
# disk, because SQLite's log needs a local one, and leaves a copy in HISTORIES. GPUBENCH_OUT: where (/var/tmp/gpubench).
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=00:45:00
#SBATCH --signal=B:TERM@60
set -u
suite=$1
histories=$2
node=$SLURMD_NODENAME
out=${GPUBENCH_OUT:-/var/tmp/gpubench}
export SLURM_MPI_TYPE="${SLURM_MPI_TYPE:-pmix}" # for scripts of the suite with launcher = "srun"
mkdir -p "$out"
# A minute before the time ends Slurm tells this shell, which tells the night: it ends with its summary.
trap 'kill -TERM "$night" 2>/dev/null' TERM
gpubench nightly "$suite" --host "$node" --out "$out" &
night=$!
wait "$night"
status=$?
if kill -0 "$night" 2>/dev/null; then # the signal ended the wait, not the night
  wait "$night"
  status=$?
fi
cp "$out/results/nightly-$(basename "$suite" .lua).txt" "$histories/$node.txt"
gpubench history --out "$out" --backup "$histories/$node.db" || status=2
exit "$status"
