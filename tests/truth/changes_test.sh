#!/usr/bin/env bash
# The figures of tests/truth/changes for series with known ones, and those of gpubench for series that people marked,
# where they are: changes_test.sh SOURCE PROGRAM
set -euo pipefail
source=$1 program=$2
command -v python3 >/dev/null || { echo "no python3" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

score() { "$source/tests/truth/changes" "$program" "$@" >"$work/table"; }
# figure DETECTOR COLUMN: columns are separated by two blanks.
figure() { awk -F '   *' -v name="$1" -v column="$2" '$1 == name { print $column }' "$work/table"; }
check() {
  local what=$1 actual=$2 relation=$3 wanted=$4
  awk -v a="${actual%% *}" -v w="$wanted" "BEGIN { exit !(a != \"\" && a $relation w) }" ||
    { echo "$what: $actual, not $relation $wanted" && cat "$work/table" && exit 1; }
}

# A step that two of three annotators marked, a quiet series, and one that too few annotators have seen.
levels() { for ((i = 0; i < $2; ++i)); do printf '%s%d' "${3:-}" $(($1 + i * 7 % 10)) && [[ $i == $(($2 - 1)) ]] || printf ', '; done; }
cat >"$work/made.jsonl" <<JSON
{"id": "step", "values": [$(levels 100 40), $(levels 130 40)], "annotations": {"a": [40], "b": [42], "c": []}}
{"id": "quiet", "values": [$(levels 100 80)], "annotations": {"a": [], "b": [], "c": []}}
{"id": "few", "values": [1], "annotations": {"a": []}}
JSON
score "$work/made.jsonl"
check "precision of none" "$(figure none 2)" == 1
check "recall of none" "$(figure none 3)" == 0.833
check "F1 of none" "$(figure none 4)" == 0.9
check "precision" "$(figure gpubench 2)" == 1
check "recall" "$(figure gpubench 3)" == 1
check "quiet series alarmed" "$(figure gpubench 6)" == 0
check "delay" "$(figure gpubench 7)" '<=' 8

series=$source/../shared/data/series
[[ -d $series ]] || { echo "no series of others in ../shared/data/series" && exit 0; }
score "$series/sap_hana/large_2022_odd.jsonl"
check "precision on SAP's series" "$(figure gpubench 2)" '>=' 0.95
check "F1 on SAP's series" "$(figure gpubench 4)" '>=' 0.86
check "alarms on SAP's quiet series" "$(figure gpubench 6)" '<=' 2
check "delay on SAP's series" "$(figure gpubench 7)" '<=' 8
score "$series/sap_hana/small_2021"
check "recall on SAP's typed series" "$(figure gpubench 3)" == 1
check "alarms on SAP's typed series" "$(figure gpubench 6)" == 0
score "$series/mozilla_treeherder"
check "recall on Mozilla's runs" "$(figure gpubench 3)" == 1
score "$series/conbench"
check "Conbench's outliers taken for changes" "$(figure gpubench 8)" == 0
