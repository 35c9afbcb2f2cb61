#!/usr/bin/env bash
# The ready-made files in docs/nightly are valid where the tools to say so are installed: nightly_files_test.sh SOURCE
set -euo pipefail
folder=$1/docs/nightly
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
checked=()
left_out=()

fail() {
  echo "nightly_files_test.sh: $*" >&2
  exit 1
}

# check NAME TOOL COMMAND...: runs the command if the tool is there.
check() {
  local name=$1 tool=$2
  shift 2
  if ! command -v "$tool" >/dev/null; then
    left_out+=("$name by $tool")
  elif "$@" >"$top/log" 2>&1; then
    checked+=("$name by $tool")
  else
    cat "$top/log" && fail "$name"
  fi
}

for file in "$folder"/*.sh; do
  check "${file##*/}" sh sh -n "$file"
  check "${file##*/}" shellcheck shellcheck "$file"
  [[ -x $file ]] || fail "${file##*/} cannot be run"
done
if python3 -c 'import yaml' 2>/dev/null; then
  check github.yml python3 python3 -c '
import sys, yaml
steps = yaml.safe_load(open(sys.argv[1]))["jobs"]["nightly"]["steps"]
assert all("run" in step for step in steps) and len(steps) >= 2' "$folder/github.yml"
  check kubernetes.yml python3 python3 -c '
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))
pod = job["spec"]["template"]["spec"]
container = pod["containers"][0]
assert job["kind"] == "Job" and pod["nodeSelector"] == {"kubernetes.io/hostname": "NODE"} and container["image"] == "IMAGE"
assert container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"
assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}' \
    "$folder/kubernetes.yml"
else
  left_out+=("github.yml and kubernetes.yml by python3-yaml")
fi
cp "$folder"/gpubench-nightly.* "$top"
for unit in gpubench-nightly.timer gpubench-nightly.service; do
  : >"$top/log"
  check "$unit" systemd-analyze systemd-analyze verify --man=no "$top/$unit"
  ! grep gpubench "$top/log" || fail "$unit: systemd-analyze warns"
done
check gpubench-nightly.timer systemd-analyze systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$folder/gpubench-nightly.timer")"
for file in github.yml kubernetes.yml gpubench-nightly.service; do
  grep -q 'gpubench nightly nightly' "$folder/$file" || fail "$file does not run the suite"
done
# What no test runs says so in its first line.
for file in github.yml kubernetes.yml kubernetes.sh gpubench-nightly.service gpubench-nightly.timer; do
  grep -v '^#!' "$folder/$file" | head -n 1 | grep -q '^# Not run' || fail "$file does not say that it was not run"
done
printf 'checked: %s\n' "${checked[@]}"
((${#left_out[@]} == 0)) || printf 'not checked, the tool is missing: %s\n' "${left_out[@]}"
