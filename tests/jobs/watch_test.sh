#!/usr/bin/env bash
# watch_test.sh ROOT PROGRAM: watch on a job of a real framework, Debian's PyTorch 1.13, whose input sleeps, so that a busy
# machine changes nothing. Skipped (77) without it.
set -euo pipefail
root=$1 program=$2 python=/usr/bin/python3
"$python" -c 'import torch, numpy' 2>/dev/null || { echo "skipped: $python has no PyTorch (Debian: python3-torch)" && exit 77; }
said=$("$python" -B "$root/tests/jobs/judge.py" "$program" --python "$python" --seconds 4 torch/remote_reads)
echo "$said"
grep -q '^right  *torch/remote_reads' <<<"$said"
grep -q 'num_workers=0' <<<"$said"
