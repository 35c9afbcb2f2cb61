# What commands need is not there where a script runs: no baseline, calibration, history, page or end of another run.
cat >x.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "e", title = "t", axes = { gb.axis("n", { 1, 2 }) }, run = function(p) return { v = p.n + 0.0 } end }
local native = rawget(gb, "_native")
local run = native.results.runs_here("e", "o", 1)[1]
local function try(of, name, ...)
  local ok, reason = pcall(function(...) return native[of][name](...) end, ...)
  print(of .. "." .. name, ok, ok and reason or "")
end
for _, out in ipairs { "../elsewhere", "../made/a/b", ".", "o" } do
  try("compare", "save_baseline", "v1", { run }, out)
  try("compare", "calibrate", "e", {}, out)
  try("history", "rebuild", out)
  try("history", "merge", out, "x")
  try("history", "write_night", out, "x.txt", "y")
  try("history", "write_page", out, "e", "../page.html")
  try("results", "finish", run, out, { "svg" })
  try("results", "pack", run, out, "../p.tar.gz", false)
end
S
mkdir inner && cd inner && cp ../x.lua .
run x.lua --out o
((rc == 0)) || fail "status $rc: $err"
lacks "$out" true
[[ $(cd .. && find . -mindepth 1 -maxdepth 1 | sort | paste -sd ' ') == "./inner ./x.lua" ]] || fail "left: $(ls ..)"
[[ $(ls -A | sort | paste -sd ' ') == "o x.lua" && $(ls -A o | sort | paste -sd ' ') == "plots results" ]] || fail "left: $(ls -A . o)"
[[ ! -e o/results/history.db ]] || fail "a script made a history"
