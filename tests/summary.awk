# Reads CTest's JUnit report: lists skipped tests with their reasons and failed ones, and ends with the counts.
# Fails when a test failed or none ran.

function attribute(name,    value) {
  if (!match($0, " " name "=\"[^\"]*\"")) return ""
  value = substr($0, RSTART, RLENGTH)
  sub(/^[^"]*"/, "", value)
  sub(/"$/, "", value)
  return plain(value)
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
  reason = ""
}

# GoogleTest prints "file:line: Skipped" and the reason on the next line; others print "skipped: reason".
status == "notrun" || status == "disabled" {
  if (after_mark && reason == "") reason = plain($0)
  after_mark = /: Skipped$/
  if (match($0, /[Ss]kipped: /)) reason = plain(substr($0, RSTART + RLENGTH))
}

/<\/testcase>/ {
  if (status == "run") passed++
  else if (status == "fail") failures[++failed] = name
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
