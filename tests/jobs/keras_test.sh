#!/usr/bin/env bash
# keras_test.sh ROOT PROGRAM FOLDER: watch on jobs of Keras and of JAX itself, whose input sleeps, or which dispatch from
# Python: a busy machine changes nothing. Today's packages are installed into FOLDER once, about 160 MB from the registry of
# Python; skipped (77) where they cannot be had.
set -euo pipefail
root=$1 program=$2 folder=$3
python=$(for one in /usr/bin/python3 python3; do
  "$one" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$one" && break
done) || { echo "skipped: no Python 3.11 with pip (Debian: python3-pip)" && exit 77; }
wanted=$root/tests/jobs/requirements.txt
if ! cmp --silent "$wanted" "$folder/requirements.txt"; then
  rm -rf "$folder"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" --requirement "$wanted" ||
    { echo "skipped: Keras and JAX cannot be installed" && exit 77; }
  cp "$wanted" "$folder/requirements.txt"
fi
export PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 KERAS_HOME=$folder/home JAX_PLATFORMS=cpu
said=$("$python" -B "$root/tests/jobs/judge.py" "$program" --python "$python" --seconds 4 \
  keras/satellite_tiles jax/concrete_strength) || true
echo "$said"
grep -q '^right.* keras/satellite_tiles' <<<"$said"
grep -q '^right.* jax/concrete_strength' <<<"$said"
"$python" -B "$root/tests/jobs/same.py" "$program" --python "$python" keras/satellite_tiles jax/concrete_strength
