# A link planted where a temporary file was written, or is: nothing outside of --out changes.
echo 'local gb = require"gpubench" gb.experiment{name="s",title="t",charts={gb.chart.line{x="n",y="v"}},
  axes={gb.axis("n",{1,2})},run=function() return {v=1.0} end}' >x.lua
echo precious >victim
mkdir -p o/results o/plots
ln -s "$PWD/victim" o/results/index.html.new
ln -s "$PWD/victim" o/plots/style.gp.new
run x.lua --out o
contains "$(cat victim)" precious 'a link index.html.new or style.gp.new'
rm -r o/results/index.html o/results/index.html.new
ln -s "$PWD/victim" o/results/index.html
run x.lua --out o
contains "$(cat victim)" precious 'a link index.html'
mkdir elsewhere
rm -r o/results/s && ln -s "$PWD/elsewhere" o/results/s
run x.lua --out o
[[ -z $(ls -A elsewhere) ]] || fail "results/s, a link out of --out, was followed: $(ls elsewhere)"
