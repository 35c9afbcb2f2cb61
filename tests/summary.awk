# Reads JUnit reports: those that tests/support/main.cpp wrote for the cases of GoogleTest programs (reports/NAME.xml for
# CTest's test NAME), and behind them CTest's own. Lists the slowest tests, skipped ones with their reasons and failed ones
# with their time and the last lines they printed, and ends with the counts.
# Fails when a test failed or none ran.

function attribute(name,    value) {
  if (!match($0, " " name "=\"[^\"]*\"")) return ""
  value = substr($0, RSTART, RLENGTH)
  sub(/^[^"]*"/, "", value)
  sub(/"$/, "", value)
  return plain(value)
}

# What the test printed last, indented.
function last_lines(count,    text, i) {
  for (i = printed > count ? printed - count : 0; i < printed; i++) text = text "\n  " output[i]
  return text
}

function plain(text) {
  gsub(/&lt;/, "<", text)
  gsub(/&gt;/, ">", text)
  gsub(/&quot;/, "\"", text)
  gsub(/&amp;/, "\\&", text)
  return text
}

# CTest's name of the program that wrote the report; empty for CTest's own.
function program_of(report) {
  return sub(/^.*\/reports\//, "", report) && sub(/[.]xml$/, "", report) ? report : ""
}

function fail(name, text) {
  failures[++failed] = name text
}

# Keeps the ten slowest, the slowest first.
function compare_time(name, time,    i) {
  for (i = slow < 10 ? ++slow : 11; i > 1 && slowest[i - 1] + 0 < time + 0; i--) slowest[i] = slowest[i - 1]
  if (i <= 10) slowest[i] = time " s  " name
}

# A case without a status ended its program: CTest's report has what that printed.
function end_of_report() {
  if (program != "" && name != "" && status == "") ended_by[program] = name
  name = ""
}

FNR == 1 {
  end_of_report()
  program = program_of(FILENAME)
}

/<testcase / {
  name = attribute("name")
  status = ""
  reason = ""
  printed = 0
}

# The name and the status stand in one line of CTest's, in two of ours.
name != "" && status == "" && / status="/ {
  status = attribute("status")
  time = attribute("time")
}

status == "fail" {
  line = $0
  sub(/.*<testcase .*<failure message=""\/>/, "", line)
  sub(/.*<system-out>/, "", line)
  sub(/<\/system-out>.*/, "", line)
  if (line !~ /^[ \t]*(<.*)?$/) output[printed++] = plain(line)
}

# GoogleTest prints "file:line: Skipped" and the reason on the next line; others print "skipped: reason".
status == "notrun" || status == "disabled" {
  if (after_mark && reason == "") reason = plain($0)
  after_mark = /: Skipped$/
  if (match($0, /[Ss]kipped: /)) reason = plain(substr($0, RSTART + RLENGTH))
}

/<\/testcase>/ {
  # A program of cases counts only where it failed and none of its cases did.
  of_cases = program == "" && name ~ /^cases\//
  if (of_cases) {
    if (name in ended_by) fail(ended_by[name], " ended its program (" name ")" last_lines(8))
    else if (status != "run" && !(name in has_failure)) fail(name, " after " time " s" last_lines(8))
  } else {
    compare_time(name, time)
    if (status == "run") passed++
    else if (status == "fail") {
      fail(name, " after " time " s" last_lines(8))
      has_failure[program]
    }
    else skips[++skipped] = name (reason == "" ? "" : ": " reason)
  }
  name = ""
  status = ""
}

END {
  end_of_report()
  for (i = 1; i <= slow; i++) print "slowest: " slowest[i]
  for (i = 1; i <= skipped; i++) print "skipped: " skips[i]
  for (i = 1; i <= failed; i++) print "failed: " failures[i]
  if (passed + failed == 0) print "no test ran"
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit (failed > 0 || passed + failed == 0)
}
