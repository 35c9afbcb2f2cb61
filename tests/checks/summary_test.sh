#!/usr/bin/env bash
# The last lines of tests/run for a made-up report of CTest: summary_test.sh SOURCE
set -euo pipefail

summary=$1/tests/summary.awk
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT

cat >"$top/mixed.xml" <<'XML'
<testsuite name="x" tests="4">
	<testcase name="core/Good.Test" classname="a" time="0.1" status="run"><system-out>fine
</system-out></testcase>
	<testcase name="core/Bad.Test" classname="a" time="0.1" status="fail">
		<failure message=""/>
		<system-out>line 0
line 1
2
3
4
5
6
7 &lt; 8

8</system-out>
	</testcase>
	<testcase name="core/Gpu.Test" classname="a" time="0.1" status="notrun">
		<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
		<system-out>../a_test.cpp:12: Skipped
no &lt;GPU&gt; is there

[  SKIPPED ] Gpu.Test (0 ms)
</system-out></testcase>
	<testcase name="checks/script" classname="a" time="0.1" status="notrun"><system-out>skipped: no data
</system-out></testcase>
</testsuite>
XML
rc=0
awk -f "$summary" "$top/mixed.xml" >"$top/out" || rc=$?
diff "$top/out" - <<'TEXT'
skipped: core/Gpu.Test: no <GPU> is there
skipped: checks/script: no data
failed: core/Bad.Test after 0.1 s
  line 1
  2
  3
  4
  5
  6
  7 < 8
  8
1 passed, 1 failed, 2 skipped
TEXT
((rc == 1)) || { echo "a failed test gave status $rc" && exit 1; }

sed -e '/Bad/,/testcase>/d' "$top/mixed.xml" | awk -f "$summary" >"$top/out"
[[ $(tail -n 1 "$top/out") == "1 passed, 0 failed, 2 skipped" ]]

rc=0
sed -e '/Bad/,/testcase>/d' -e '/Good/,/testcase>/d' "$top/mixed.xml" | awk -f "$summary" >"$top/out" || rc=$?
[[ $(tail -n 1 "$top/out") == "0 passed, 0 failed, 2 skipped" ]]
((rc == 1)) || { echo "a suite of which nothing ran gave status $rc" && exit 1; }
echo "the summary counts and names what it should"
