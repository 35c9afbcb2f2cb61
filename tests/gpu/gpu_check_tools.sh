# shellcheck shell=bash disable=SC2034  # used by the tests
# Sourced by the tests of tests/gpu_check, with CHECK PART PROGRAM TESTS: a folder of their own, and functions.
set -euo pipefail

test_name=${0##*/} check=$1 part=$2 program=$3 tests=$4
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cd "$top"

wrong() {
  echo "$test_name: $*" >&2
  [[ ! -s log ]] || cat log >&2
  for file in results/gpu_check/*/*.log; do
    [[ ! -e $file ]] || { echo "--- $file" && cat "$file"; } >&2
  done
  exit 1
}

# checked STATUS ARGUMENT...: runs gpu_check, which must end with that status; what it prints is in log, its run in $run.
checked() {
  local expected=$1 rc=0 runs
  shift
  rm -rf results
  "$check" --program "$program" --tests "$tests" "$@" >log 2>&1 || rc=$?
  ((rc == expected)) || wrong "gpu_check $* has status $rc, expected $expected"
  runs=(results/gpu_check/*)
  run=${runs[0]}
}

# said TEXT: a line of the summary, or of what was printed, matches.
said() {
  grep -qE -e "$1" log || wrong "nothing says '$1'"
}

# shown TEXT: something on the page matches.
shown() {
  grep -qE -e "$1" "$run/index.html" || wrong "the page does not say '$1'"
}

# running COMMAND: it comes to run within seconds.
running() {
  local tries
  for ((tries = 0; tries < 200; ++tries)); do
    ! "$@" >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  wrong "in vain: $*"
}

# A compute-sanitizer that runs the program and says what it is told to.
fake_sanitizer() {
  mkdir -p tools
  cat >tools/compute-sanitizer <<TEXT
#!/bin/bash
[[ "\$GPU_TESTS_MEMORY \$1 \$3 \$5 \$7" == "apart --tool --target-processes --error-exitcode --kernel-name" ]] || exit 3
tool=\$2
shift 8
if [[ \$tool == memcheck ]]; then
  [[ "\$1 \$2" == "--report-api-errors no" ]] || exit 3
  shift 2
fi
"\$@" || exit
echo "========= $1"
TEXT
  chmod +x tools/compute-sanitizer
}
