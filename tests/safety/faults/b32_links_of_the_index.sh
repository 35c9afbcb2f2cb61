# A folder whose name would be a script in a page is no live link of the index.
echo 'require"gpubench".experiment { name = "e", title = "t", run = function() return { v = 1 } end }' >x.lua
run x.lua --out o
for name in 'javascript:alert(1)' 'data:text,x' '"onmouseover="x' '..%2f..' ; do cp -r o/results/e "o/results/$name"; done
run x.lua --out o
((rc == 0)) || fail "status $rc: $err"
page=$(cat o/results/index.html)
lacks "$page" 'href="javascript:' index.html
lacks "$page" 'href="data:' index.html
lacks "$page" '"onmouseover="x' index.html
