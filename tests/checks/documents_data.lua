-- The files that scripts in docs/recipes.md read: photos/{cats,dogs}/*.jpg and points.csv, in the working folder.
-- Run with --trusted: scripts may write nothing there otherwise.
local gb = require "gpubench"

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

for class, grey in pairs { cats = 60, dogs = 180 } do
  local bytes = gb.image.encode_jpeg(gb.full({ 48, 64, 3 }, grey, { dtype = "uint8" }))
  local photo = string.char(table.unpack(bytes:to_table()))
  for index = 1, 32 do write(string.format("photos/%s/%d.jpg", class, index), photo) end
end

local lines = { "height,width,label" }
for index = 1, 256 do lines[index + 1] = string.format("%d,%d,%d", index % 16, index % 9, index % 2) end
write("points.csv", table.concat(lines, "\n") .. "\n")
