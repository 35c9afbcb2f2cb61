# Reads CTest's JUnit report: lists skipped tests with their reasons and failed ones with their time and the last lines
# they printed, and ends with the counts.
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

/<testcase / {
  name = attribute("name")
  status = attribute("status")
  time = attribute("time")
  reason = ""
  printed = 0
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
  if (status == "run") passed++
  else if (status == "fail") failures[++failed] = name " after " time " s" last_lines(8)
  else skips[++skipped] = name (reason == "" ? "" : ": " reason)
  status = ""
}

END {
  for (i = 1; i <= skipped; i++) print "skipped: " skips[i]
  for (i = 1; i <= failed; i++) print "failed: " failures[i]
  if (passed + failed == 0) print "no test ran"
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit (failed > 0 || passed + failed == 0)
}
