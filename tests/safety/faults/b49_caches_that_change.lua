-- A cache's file that is shortened while it is read ends the loop with an error, and its elements can be written to:
-- they were memory of a mapped file.
local gb = require "gpubench"

local function made(name)
  local dataset = gb.data.Dataset.range(4):map(function(x) return gb.ones { 100000 } * x:cast "float32" end)
  dataset = dataset:cache("out/results/" .. name)
  for _ in dataset:iter() do end
  return dataset
end

gb.experiment { name = "caches", title = "Caches that change", run = function()
  local shortened = made "shortened"
  local next_element = shortened:iter()
  next_element()
  io.open("out/results/shortened", "w"):close()
  local ok, result
  repeat ok, result = pcall(next_element) until not ok or result == nil
  assert(not ok and result:find "is cut short", result)

  local row
  for x in made("kept"):iter() do
    row = x
    break
  end
  collectgarbage()
  collectgarbage()
  row[1] = 5
  assert(row[1]:item() == 5 and row[2]:item() == 0)
  return {}
end }
