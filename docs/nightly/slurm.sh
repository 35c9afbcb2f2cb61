#!/bin/sh
# Slurm, each night from cron on a login node: slurm.sh [NODE...] measures each node in a job of its own that has the
# node for itself, then prints who did not report, what became worse, and who stands out. Without NODE: all nodes.
# A job a node, not an array: Slurm may give two tasks of an array to one node, one after the other, and none to another.
#
# GPUBENCH_SUITE       the suite (nightly)
# GPUBENCH_HISTORIES   a folder that all nodes see ($HOME/gpubench/histories)
# GPUBENCH_MINUTES     a node that is still busy or down after this does not report (180)
# SBATCH_PARTITION, SBATCH_ACCOUNT, ... as for every sbatch
set -u
suite=${GPUBENCH_SUITE:-nightly}
histories=${GPUBENCH_HISTORIES:-$HOME/gpubench/histories}
end=$(($(date +%s) + 60 * ${GPUBENCH_MINUTES:-180}))
here=$(dirname "$0")
name=gpubench-$$
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046  # names of nodes have no blanks
  set -- $(sinfo --noheader --Node --format=%N | sort -u)
fi
mkdir -p "$histories"
: >"$histories/.started" # on the same disk as what is compared with it: clocks differ
for node in "$@"; do
  sbatch --quiet --job-name="$name" --nodelist="$node" --output="$histories/$node.log" "$here/slurm_job.sh" "$suite" \
    "$histories"
done
left=started
while [ -n "$left" ] && [ "$(date +%s)" -lt "$end" ]; do
  sleep 10
  left=$(squeue --noheader --name="$name" --format='%n: %T (%r)') || left="Slurm does not answer"
done
if [ -n "$left" ]; then
  echo "not done in time:"
  echo "$left"
  scancel --quiet --name="$name"
fi
exec "$here/report.sh" "$histories" "$histories/.started" "$@"
