#!/usr/bin/env bash
# The workflows and the checks for commits are well-formed, and what they call exists: workflow_test.sh SOURCE
set -euo pipefail
cd "$1"

python3 -c 'import yaml' 2>/dev/null || { echo "skipped: python3-yaml is not installed" && exit 77; }
python3 - <<'PYTHON'
import glob, os, re, yaml

names = re.search(r'^all="([^"]+)"', open(".ci/run").read(), re.M)[1].split()

job = yaml.safe_load(open(".github/workflows/check.yml"))["jobs"]["check"]
checks = job["strategy"]["matrix"]["check"]
assert set(checks) <= set(names), f".ci/run has no check {set(checks) - set(names)}"
assert {"release", "asan", "tidy"} <= set(checks)
files = glob.glob(".github/workflows/*.yml")
steps = [step for file in files for one in yaml.safe_load(open(file))["jobs"].values() for step in one["steps"]]
assert len(files) > 1 and all(("uses" in step) != ("run" in step) for step in steps)
for command in (step["run"] for step in steps if "run" in step):
    program = command.split()[0]
    assert program in ("apt-get", "git") or os.access(program, os.X_OK), f"there is no {program}"
assert job["steps"][1]["with"]["fetch-depth"] == 0, "tools/tidy needs the whole history"

packages = open("tools/dependencies.txt").read()
hooks = yaml.safe_load(open(".pre-commit-config.yaml"))["repos"][0]["hooks"]
for hook in hooks:
    program = hook["entry"].split()[0]
    assert program == "awk" or f"command:{program} " in packages, f"tools/dependencies.txt has no {program}"
PYTHON
! command -v pre-commit >/dev/null || pre-commit validate-config
echo "workflow and hooks are well-formed"
