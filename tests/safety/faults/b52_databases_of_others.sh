# A results folder or a history from others comes with a journal that names a file of the user as its super-journal: no
# command that looks at the history removes it. Nor does a pipe, a link or a folder beside the history hold a command up.
cat >craft.lua <<'S'
local database, target = os.getenv "DATABASE", os.getenv "TARGET"
local function be4(x) return string.pack(">I4", x) end
local file <close> = io.open(database, "r+b")
local pages = file:seek "end" // 4096
file:seek("set", 18)
file:write "\1\1"  -- a rollback journal, no write-ahead log
local magic, sum = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 0
for i = 1, #target do sum = sum + string.unpack("b", target, i) end
local head = magic .. be4(0) .. be4(0) .. be4(pages) .. be4(512) .. be4(4096)
local journal <close> = io.open(database .. "-journal", "wb")
journal:write(head, ("\0"):rep(512 - #head), be4(0x40000000 // 4096 + 1), target, be4(#target), be4(sum & 0xffffffff), magic)
S
echo 'local gb = require "gpubench" gb.experiment { name = "e", title = "t", run = function() return { v = 1.0 } end }' >e.lua
echo 'return { minutes = 1, devices = { "cpu:0" }, scripts = { "e" } }' >s.lua
run e.lua -q --out made && run history --rebuild --out made
((rc == 0)) || fail "no history: $err"
run e.lua -q --out mine && run history --rebuild --out mine
hurt() { DATABASE=$1 TARGET=$PWD/victim run craft.lua --trusted && ((rc == 0)) || fail "$err"; }
for words in "history" "history e" "history --rebuild" "history e --format csv" "report e --file r.html" "nightly s.lua" \
  "history --resolve 1 --note x" "history --prune 1" "history --merge other.db"; do
  rm -rf given other.db* && cp -r made given && cp made/results/history.db other.db && echo precious >victim
  hurt given/results/history.db
  run $words --out given
  [[ $(<victim) == precious ]] || fail "$words removed or changed the file"
  contains "$err$out" "history.db-journal' beside it names another file" "$words"
  hurt other.db
  run history --merge other.db --out mine
  [[ $(<victim) == precious ]] || fail "merging removed or changed the file"
  contains "$err" "other.db-journal' beside it names another file" merge
done
for ending in journal wal shm; do
  for beside in pipe link dangling folder; do
    rm -rf given && cp -r made given && echo precious >victim
    case $beside in
      pipe) mkfifo given/results/history.db-$ending ;;
      link) ln -s "$PWD/victim" given/results/history.db-$ending ;;
      dangling) ln -s "$PWD/new" given/results/history.db-$ending ;;
      folder) mkdir given/results/history.db-$ending ;;
    esac
    limit_s=20 run history --rebuild --out given
    ((rc == 2)) || fail "$ending is a $beside: status $rc"
    contains "$err" "history.db-$ending' beside it is no plain file" "$ending is a $beside"
    [[ $(<victim) == precious && ! -e new ]] || fail "$ending is a $beside: changed the file behind it"
  done
done
# What is ours is used: a history that another command has open.
run history --rebuild --out made
((rc == 0)) || fail "$err"
