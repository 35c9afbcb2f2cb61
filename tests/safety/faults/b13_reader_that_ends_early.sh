# What reads the printed table ends early: files are finished all the same.
echo 'local gb=require"gpubench" gb.experiment{name="s",title="t",axes={gb.axis("n",{1,2})},
  run=function(p) return {v=1.0*p.n} end}' >x.lua
for reader in true 'head -c 10' 'head -n 1'; do
  rm -rf o
  limited "$G" x.lua --out o 2>/dev/null | $reader >/dev/null || true
  for file in report.html results.csv run.json; do
    [[ -s $(echo o/results/s/*/$file) ]] || fail "read by '$reader': no $file"
  done
  grep -q '"status": "done"' o/results/s/*/run.json || fail "read by '$reader': $(grep '"status"' o/results/s/*/run.json)"
done
