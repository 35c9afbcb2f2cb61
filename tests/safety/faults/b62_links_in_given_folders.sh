# Nothing is written, replaced or removed behind a link in a folder that came from elsewhere, by any command.
cat >e.lua <<'S'
local gb = require "gpubench"
gb.experiment { name = "e", title = "t", axes = { gb.axis("n", { 1, 2 }) },
  charts = { gb.chart.line { x = "n", y = "v", name = "holiday" } }, run = function(p) return { v = p.n + 0.0 } end }
S
run e.lua -q --out given
run e.lua -q --out given
run history --rebuild --out given
R=$(basename "$(printf '%s\n' given/results/e/* | head -n 1)")
cp -r given before

# planted PLACE COMMAND...: with PLACE a link to a folder with files of its names, the command is refused and they stay.
planted() {
  local place=$1 kind=folder
  shift
  rm -rf given elsewhere && cp -r before given && mkdir elsewhere
  for name in holiday.svg holiday.pdf holiday.gp index.html run.json report.html history.db nightly-s.txt v1; do
    echo 'the only copy' >"elsewhere/$name"
  done
  mkdir -p "elsewhere/$R" "elsewhere/e/$R"
  if [[ -d given/$place && ! -L given/$place ]]; then
    # What is read through the link is there.
    cp -rn "given/$place/." elsewhere/ && rm -r "given/$place"
  fi
  mkdir -p "$(dirname "given/$place")"
  ln -s "$PWD/elsewhere" "given/$place"
  (cd elsewhere && find . -type f -exec sha256sum {} + | sort) >sums
  run "$@"
  ((rc != 0)) || fail "$place, $*: status 0: $out"
  contains "$err" 'is a link' "$place, $*"
  (cd elsewhere && find . -type f -exec sha256sum {} + | sort) | cmp -s sums - || fail "$place, $*: changed: $(find elsewhere -newer sums)"
}
for place in plots plots/e "plots/e/$R" results results/e; do
  planted "$place" finish "given/results/e/$R" --chart-format svg,pdf --out given
done
for place in results results/e plots plots/e; do planted "$place" e.lua -q --trusted --out given; done
planted baselines baseline save v1 last --out given
planted results history --rebuild --out given

# File names.
refuses() {
  run "$@"
  ((rc != 0)) || fail "$*: status 0"
  contains "$err" 'link' "$*"
  [[ $(<victim) == precious ]] || fail "$*: the file behind the link was changed"
  [[ ! -e nowhere ]] || fail "$*: a file was made behind the link"
}
rm -rf given && cp -r before given
echo precious >victim
ln -s victim link.html && ln -s nowhere dangling && ln -s victim link.tar.gz
refuses report last --file link.html --out given
refuses report last --file dangling --out given
refuses report --history e --file link.html --out given
refuses pack e --file link.tar.gz --out given
refuses pack e --file dangling --out given
refuses history --export dangling --out given
refuses history --export link.html --out given
mkdir given/baselines folder && ln -s ../../folder given/baselines/v1
refuses baseline save v1 last --out given
[[ -z $(ls -A folder) ]] || fail 'a baseline was saved behind a link'
run report last --file /dev/null --out given
contains "$err" 'a device' 'a report in place of a device'
[[ -c /dev/null ]] || fail '/dev/null was replaced'

# A mark of a run that waits, on a disk that takes none.
rm -f given/results/history.db* && mkdir given/results/history.db
ln -s "$PWD/victim" "given/results/e/$R/history.pending"
echo 'return { minutes = 1, devices = { "cpu" }, scripts = { "e" } }' >s.lua
run nightly s.lua --out given
[[ $(<victim) == precious ]] || fail "a mark was written through a link"
