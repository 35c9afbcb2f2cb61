-- The rank of a tensor is limited, in calls and in files.
local gb = require "gpubench"
local testing = require "testing"

local shape = {}
for i = 1, 100000 do shape[i] = 1 end
testing.case("calls", function()
  testing.contains(testing.refuses(gb.ones, shape), "rank")
  testing.contains(testing.refuses(gb.zeros, shape), "rank")
  testing.contains(testing.refuses(function() return gb.ones { 1 }:reshape(shape) end), "rank")
  local nested = 1
  for _ = 1, 100000 do nested = { nested } end
  testing.refuses(gb.tensor, nested)
end)

gb.experiment { name = "place_for_files", title = "A place for files", run = function() return {} end }
testing.case("files", function()
  local extents = table.concat(shape, ",")
  local header = ('{"a":{"dtype":"F32","shape":[%s],"data_offsets":[0,4]}}'):format(extents)
  local path = "out/results/deep.safetensors"
  local file = assert(io.open(path, "wb"))
  file:write(string.pack("<I8", #header), header, string.pack("<f", 1))
  file:close()
  testing.contains(testing.refuses(function()
    for x in gb.data.Dataset.safetensors(path):iter() do return #tostring(x) end
  end), "rank")
end)
