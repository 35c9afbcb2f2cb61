# A disk that fills: run.json does not stay "running", and every row that was printed is there. One that is too full for
# a run's end lets no run begin, and nothing is left of it. Also where charts and claims make run.json large at the end.
mkdir disk
inside() {
  mount -t tmpfs -o size="$1"k none disk || return 77
  limited "$G" x.lua --out disk >said 2>err || echo $? >status
  cp -r disk copy
}
export -f inside limited
export G
# fills LEAST SIZE...: x.lua on disks of so many KiB; the run begins from LEAST on.
fills() {
  local size rows least=$1
  for size in "${@:2}"; do
    rm -rf copy status
    unshare --mount --map-root-user bash -c "inside $size" 2>/dev/null || skip 'no file system can be mounted here'
    [[ -e status && $(<status) == 2 ]] || fail "$size KiB: status $(cat status 2>/dev/null || echo 0)"
    clean "$(cat err)"
    contains "$(cat err)" 'No space left' "$size KiB"
    if [[ ! -e $(echo copy/results/s/*/results.csv) ]]; then
      ((size < least)) && [[ -z $(find copy -type f) ]] || fail "$size KiB: no run, but $(find copy -type f)"
      continue
    fi
    ended_as error copy/results/s/*/run.json
    rows=$(grep -c '^s,' copy/results/s/*/results.csv || true)
    grep -q "\"rows\": $rows,$" copy/results/s/*/run.json || fail "$size KiB: run.json counts other rows than $rows"
    run show --out copy
    ((rc == 0)) || fail "$size KiB: show: $err"
  done
}
cat >x.lua <<'S'
local gb = require "gpubench"
local values = {} for i = 1, 400 do values[i] = i end
gb.experiment { name = "s", title = "t", axes = { gb.axis("n", values) }, run = function(p) return { text = ("x"):rep(500) } end }
S
fills 64 16 24 32 40 64 100 160 220
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
fills 141 36 44 52 60 64 72 80 88 100 120 140
