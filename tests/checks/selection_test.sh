#!/usr/bin/env bash
# A program of cases runs those that tests/run asks for, and no other: selection_test.sh PROGRAM SUITE
# PROGRAM has the test suite SUITE and others.
set -euo pipefail

program=$1 suite=$2
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

# names FILTER EXCLUDE: the cases that run.
names() {
  GPUBENCH_TESTS_REPORT=$top/report GPUBENCH_TESTS_FOLDER=folder/ GPUBENCH_TESTS_FILTER=$1 GPUBENCH_TESTS_EXCLUDE=$2 \
    "$program" >"$top/log"
  sed -n 's/^<testcase name="\(.*\)"$/\1/p' "$top/report"
}

all=$(names folder/ '')
chosen=$(names "^folder/$suite\\." '')
rest=$(names '' "^folder/$suite\\.")
[[ -n $chosen && -n $rest && $(sort <<<"$chosen"$'\n'"$rest") == $(sort <<<"$all") ]] ||
  { echo "'$suite' and the rest are not all cases" && exit 1; }
! grep -v "^folder/$suite\\." <<<"$chosen" || { echo "--filter $suite chose these as well" && exit 1; }
for choice in 'no such case|' '|folder/' "^folder/$suite\\.|$suite"; do
  none=$(names "${choice%%|*}" "${choice#*|}")
  [[ -z $none ]] || { printf '%s\n' "filter '${choice%%|*}', exclude '${choice#*|}' ran" "$none" && exit 1; }
done
echo "the cases that were asked for ran, and no other"
