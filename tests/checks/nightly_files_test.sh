#!/usr/bin/env bash
# The ready-made files in docs/nightly are valid where the tools to say so are installed: nightly_files_test.sh SOURCE
set -euo pipefail
folder=$1/docs/nightly
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
checked=()
left_out=()

# check NAME TOOL COMMAND...: runs the command if the tool is there.
check() {
  local name=$1 tool=$2
  shift 2
  if ! command -v "$tool" >/dev/null; then
    left_out+=("$name by $tool")
  elif "$@" >"$top/log" 2>&1; then
    checked+=("$name by $tool")
  else
    echo "nightly_files_test.sh: $name:" && cat "$top/log" && exit 1
  fi
}

check slurm.sh sh sh -n "$folder/slurm.sh"
check slurm.sh shellcheck shellcheck "$folder/slurm.sh"
if python3 -c 'import yaml' 2>/dev/null; then
  check github.yml python3 python3 -c '
import sys, yaml
steps = yaml.safe_load(open(sys.argv[1]))["jobs"]["nightly"]["steps"]
assert all("run" in step for step in steps) and len(steps) >= 2' "$folder/github.yml"
else
  left_out+=("github.yml by python3-yaml")
fi
cp "$folder"/gpubench-nightly.* "$top"
check gpubench-nightly.timer systemd-analyze systemd-analyze verify --man=no "$top/gpubench-nightly.timer"
check gpubench-nightly.timer systemd-analyze systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$folder/gpubench-nightly.timer")"
for file in github.yml slurm.sh gpubench-nightly.service; do
  grep -q 'gpubench nightly nightly' "$folder/$file" || { echo "nightly_files_test.sh: $file does not run the suite" && exit 1; }
done
printf 'checked: %s\n' "${checked[@]}"
((${#left_out[@]} == 0)) || printf 'not checked, the tool is missing: %s\n' "${left_out[@]}"
