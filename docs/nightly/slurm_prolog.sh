#!/bin/sh
# Slurm, called by the site's Prolog: slurm_prolog.sh [--drain] qualifies a node with suites/quick, once after each boot.
# Without --drain it writes what it found into the system's log, and the job starts. With it a node that is not sound is
# drained with the reason, and the job goes back to the queue (with SchedulerParameters=nohold_on_prolog_fail; else it is
# held). A node is sound if nothing became worse, nothing is missing, and no alarm is open: gpubench history --resolve ID
# closes one.
# The first job after a boot waits for up to 3 minutes: BatchStartTimeout and PrologEpilogTimeout have to be longer.
# GPUBENCH_PROLOG_OUT: where its history is (/var/lib/gpubench).
set -u
out=${GPUBENCH_PROLOG_OUT:-/var/lib/gpubench}
PATH=${PATH:-/usr/bin:/bin}:/usr/local/bin # slurmd gives a prolog no PATH
export PATH
mkdir -p "$out"
exec 9>"$out/prolog.lock"
flock 9 # another job's prolog may be measuring
boot=$(cat /proc/sys/kernel/random/boot_id)
[ "$boot" != "$(cat "$out/prolog.boot" 2>/dev/null)" ] || exit 0
echo "$boot" >"$out/prolog.boot" # first, so that a night that hangs costs one job
gpubench nightly quick --host "${SLURMD_NODENAME:-$(hostname)}" --out "$out" >"$out/prolog.txt" 2>&1 9>&-
status=$?
summary=$out/results/nightly-quick.txt
open=$(sed -n 3,5p "$summary" 2>/dev/null | grep -v -E '^(new|still open|not measured): none')
if [ "$status" -eq 0 ] && [ -z "$open" ]; then exit 0; fi
# 3: nothing was reliable, because others used the node; that says nothing about it.
if [ "$status" -eq 3 ] && ! echo "$open" | grep -q -v '^not measured'; then exit 0; fi
reason="gpubench: ${open:-status $status, see $out/prolog.txt}"
reason=$(printf '%s' "$reason" | tr '\n' ';' | cut -c 1-200)
logger -t gpubench "$reason" 2>/dev/null
[ "${1:-}" = --drain ] || exit 0
scontrol update nodename="$SLURMD_NODENAME" state=drain reason="$reason"
exit 1
