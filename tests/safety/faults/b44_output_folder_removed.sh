# A script neither removes nor renames the output folder itself.
for call in 'os.remove("o")' 'os.remove("o/")' 'os.remove("./o/.")' 'os.remove("../folder/o")' 'os.rename("o", "o/x")'; do
  rm -rf o && mkdir o
  echo "print(pcall(function() return $call end))" >x.lua
  run x.lua --out o
  [[ -d o ]] || fail "$call: the output folder is gone: $out"
done
