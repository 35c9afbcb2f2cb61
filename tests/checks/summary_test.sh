#!/usr/bin/env bash
# The last lines of tests/run for made-up reports: summary_test.sh SOURCE
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
slowest: 0.1 s  core/Good.Test
slowest: 0.1 s  core/Bad.Test
slowest: 0.1 s  core/Gpu.Test
slowest: 0.1 s  checks/script
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
# Programs of cases: one fine, one with a failed case, one that a case ended, one that failed behind its cases.
mkdir -p "$top/reports/cases/core"
cat >"$top/reports/cases/core/fine.xml" <<'XML'
<testcase name="core/fine/A.One"
 time="0.500" status="run"><system-out>
</system-out></testcase>
<testcase name="core/fine/A.Two"
 time="0.001" status="notrun"><system-out>
a_test.cpp:3: Skipped
no mpirun
</system-out></testcase>
XML
cat >"$top/reports/cases/core/bad.xml" <<'XML'
<testcase name="core/bad/A.One"
 time="0.250" status="fail"><system-out>
a_test.cpp:12: Failure
1 is not &lt; 0
</system-out></testcase>
XML
cat >"$top/reports/cases/core/dead.xml" <<'XML'
<testcase name="core/dead/A.One"
 time="0.125" status="run"><system-out>
</system-out></testcase>
<testcase name="core/dead/A.Two"
XML
sed 's/fine/leaks/; /A.Two/,$d' "$top/reports/cases/core/fine.xml" >"$top/reports/cases/core/leaks.xml"
cat >"$top/cases.xml" <<'XML'
	<testcase name="cases/core/fine" classname="a" time="1" status="run"><system-out>
</system-out></testcase>
	<testcase name="cases/core/bad" classname="a" time="1" status="fail"><failure message=""/><system-out>one failed
</system-out></testcase>
	<testcase name="cases/core/dead" classname="a" time="1" status="fail"><failure message=""/><system-out>Segmentation fault
</system-out></testcase>
	<testcase name="cases/core/leaks" classname="a" time="1" status="fail"><failure message=""/><system-out>2 bytes lost
</system-out></testcase>
XML
rc=0
awk -f "$summary" "$top"/reports/cases/core/*.xml "$top/cases.xml" >"$top/out" || rc=$?
diff "$top/out" - <<'TEXT'
slowest: 0.500 s  core/fine/A.One
slowest: 0.500 s  core/leaks/A.One
slowest: 0.250 s  core/bad/A.One
slowest: 0.125 s  core/dead/A.One
slowest: 0.001 s  core/fine/A.Two
skipped: core/fine/A.Two: no mpirun
failed: core/bad/A.One after 0.250 s
  a_test.cpp:12: Failure
  1 is not < 0
failed: core/dead/A.Two ended its program (cases/core/dead)
  Segmentation fault
failed: cases/core/leaks after 1 s
  2 bytes lost
3 passed, 3 failed, 1 skipped
TEXT
((rc == 1)) || { echo "failed cases gave status $rc" && exit 1; }
echo "the summary counts and names what it should"
