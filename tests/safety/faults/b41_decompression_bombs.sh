# Few bytes that unpack to very many are refused by a limit, before memory is taken for them.
head -c 67108864 /dev/zero | gzip -9 >zeros.gz
printf '\0\0\10\2\0\0\10\0\0\40\0\0' | gzip >bomb.idx.gz # uint8[2048, 2097152]: 4 GiB
for _ in {1..64}; do cat zeros.gz; done >>bomb.idx.gz
cat >x.lua <<'S'
local gb = require "gpubench"
local function crc32(text)
  local crc = 0xffffffff
  for i = 1, #text do
    crc = crc ~ text:byte(i)
    for _ = 1, 8 do crc = crc & 1 == 1 and (crc >> 1) ~ 0xedb88320 or crc >> 1 end
  end
  return crc ~ 0xffffffff
end
local function chunk(kind, bytes)
  return string.pack(">I4", #bytes) .. kind .. bytes .. string.pack(">I4", crc32(kind .. bytes))
end
gb.experiment { name = "place_for_files", title = "A place for files", run = function() return {} end }
local file = assert(io.open("o/results/bomb.png", "wb"))
file:write("\137PNG\r\n\26\n", chunk("IHDR", string.pack(">I4I4BBBBB", 60000, 60000, 8, 0, 0, 0, 0)),
  chunk("IDAT", "\120\156\3\0\0\0\0\1"), chunk("IEND", ""))
file:close()
print(pcall(gb.data.Dataset.idx, "bomb.idx.gz", "bomb.idx.gz"))
print(pcall(function()
  for _ in gb.data.Dataset.list_files("o/results/bomb.png"):map(gb.data.read_file()):map(gb.image.decode()):iter() do end
end))
S
(ulimit -v 3000000; limited "$G" x.lua --out o >said 2>err) || fail "status $?: $(cat err)"
clean "$(cat said)"
[[ $(grep -c '^false' said) == 2 ]] || fail "was read: $(cat said)"
grep -q 'o memory\|enough memory' said && fail "memory was asked for: $(grep '^false' said)"
true
