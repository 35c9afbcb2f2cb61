# A disk that is too full for what run.json will have at the end: the run does not begin, or ends as "error", but never
# stays "running", also where charts and claims make run.json large.
mkdir disk
inside() {
  mount -t tmpfs -o size="$1"k none disk || return 77
  limited "$G" x.lua --out disk >said 2>err || echo $? >status
  cp -r disk copy
}
export -f inside limited
export G
cat >x.lua <<'S'
local gb = require "gpubench"
local values, charts = {}, {}
for i = 1, 400 do values[i] = i end
for i = 1, 30 do charts[i] = gb.chart.line { x = "n", y = "v" .. i, title = ("a long title "):rep(60), name = "c" .. i } end
gb.experiment { name = "s", title = "t", axes = { gb.axis("n", values) }, charts = charts, run = function(p)
  local row = { text = ("x"):rep(500) }
  for i = 1, 30 do row["v" .. i] = p.n + 0.5 end
  return row
end }
S
for size in 36 44 52 60 64 72 80 88 100 120 140; do
  rm -rf copy status
  unshare --mount --map-root-user bash -c "inside $size" 2>/dev/null || skip 'no file system can be mounted here'
  [[ -e status && $(<status) == 2 ]] || fail "$size KiB: status $(cat status 2>/dev/null || echo 0)"
  clean "$(cat err)"
  contains "$(cat err)" 'No space left' "$size KiB"
  if [[ -e $(echo copy/results/s/*/run.json) ]]; then ended_as error copy/results/s/*/run.json; fi
done
true
