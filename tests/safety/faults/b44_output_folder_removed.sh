# A script neither removes nor renames the output folder itself.
echo 'for _, folder in ipairs { "o", "o/", "o/.", "./o", "../folder/o" } do
  print(folder, pcall(os.remove, folder))
  print(folder, pcall(os.rename, folder, folder .. "2"))
  print(folder, pcall(os.rename, folder, "o/x"))
end' >x.lua
mkdir o
run x.lua --out o
[[ -d o ]] || fail "the output folder was removed: $out"
