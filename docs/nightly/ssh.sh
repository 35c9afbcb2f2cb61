#!/bin/sh
# SSH and GNU parallel, each night from cron: ssh.sh NODES measures all machines of the file NODES (a name a line) at
# once, fetches their histories, and prints who did not report, what became worse, and who stands out. The machines have
# gpubench on their PATH, and let this user in without a password.
#
# GPUBENCH_SUITE       the suite (nightly)
# GPUBENCH_HISTORIES   where the histories are collected ($HOME/gpubench/histories)
# GPUBENCH_OUT         where a machine keeps its own (/var/tmp/gpubench)
# GPUBENCH_MINUTES     a machine that is not done after this does not report (180)
set -u
nodes=$1
suite=${GPUBENCH_SUITE:-nightly}
histories=${GPUBENCH_HISTORIES:-$HOME/gpubench/histories}
out=${GPUBENCH_OUT:-/var/tmp/gpubench}
here=$(dirname "$0")
mkdir -p "$histories"
: >"$histories/.started"
summary=$out/results/nightly-$(basename "$suite" .lua).txt
export suite histories out summary
# Each line of parallel's own shell: {} is the machine.
at_all() { parallel --will-cite --jobs 0 --tag --timeout $((60 * ${GPUBENCH_MINUTES:-180})) --arg-file "$nodes" "$1"; }
ssh='ssh -n -o BatchMode=yes -o ConnectTimeout=30 {}'
at_all "$ssh \"mkdir -p '\$out' && gpubench nightly '\$suite' --host {} --out '\$out'\" >\"\$histories\"/{}.log"
# A copy that is whole also while a night goes on; the machine's old one stays where there is none.
at_all "$ssh \"rm -f '\$out/copy.db' && gpubench history --out '\$out' --backup '\$out/copy.db' >/dev/null && \
cat '\$out/copy.db'\" >\"\$histories\"/{}.new && mv \"\$histories\"/{}.new \"\$histories\"/{}.db"
at_all "$ssh \"cat '\$summary'\" >\"\$histories\"/{}.txt"
rm -f "$histories"/*.new
# shellcheck disable=SC2046  # names of machines have no blanks
exec "$here/report.sh" "$histories" "$histories/.started" $(cat "$nodes")
