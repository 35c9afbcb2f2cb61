-- The table of Keras' names is what the program says: each is here, or in another form that is told, or absent for a
-- reason that is told. None is answered with another function.
local ask = dofile "tests/peers/names/ask.lua"
local testing = require "testing"

local lines, faults, differing = {}, {}, {}
for line in io.lines "tests/peers/names.csv" do lines[#lines + 1] = line end

testing.case("the table has Keras' names", function()
  testing.equal(lines[1], ask.header)
  testing.is_true(#lines > 1200, "public names of Keras and tf.data")
end)

for index = 2, #lines do
  local group, asked, name = lines[index]:match "^([^,]+),([^,]+),([^,]+),"
  local line = ask.line(group, asked, name)
  if line ~= lines[index] then differing[#differing + 1] = lines[index] .. "\n  now " .. line end
  local answer, told = line:match "^[^,]+,[^,]+,[^,]+,([^,]+),(.*)$"
  local is_right = answer == "here" or (answer == "another form" or answer == "absent") and told ~= ""
  if not is_right then faults[#faults + 1] = line end
end

testing.case("each name is here, or told", function()
  testing.equal(table.concat(faults, "\n"), "")
end)

testing.case("the table is that of this program: tests/peers/names/run ask", function()
  testing.equal(table.concat(differing, "\n"), "")
end)
