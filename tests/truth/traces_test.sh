#!/usr/bin/env bash
# traces_test.sh ROOT PROGRAM: explain and its --rule on traces of others (tests/truth/traces). Skipped (77) where these
# are not there.
set -euo pipefail
root=$1 program=$2
folder=$root/../shared/data/traces
command -v python3 >/dev/null || { echo "skipped: no python3" && exit 77; }
if [[ ! -f $folder/expected.json ]]; then
  echo "skipped: there are no traces of others in $folder"
  exit 77
fi
exec "$root/tests/truth/traces" "$program" "$folder"
