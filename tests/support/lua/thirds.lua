-- A task for models that learn in no time: rows of 12 numbers whose class is which third of them is largest.
local gb = require "gpubench"

local thirds = {}

-- The same for every call and on every device: drawn on the host, as tables.
function thirds.rows(count)
  local rows, labels = {}, {}
  math.randomseed(7)
  for i = 1, count do
    local class = math.random(0, 2)
    rows[i], labels[i] = {}, class
    for k = 1, 12 do rows[i][k] = math.random() + ((k - 1) // 4 == class and 1 or 0) end
  end
  return rows, labels
end

function thirds.tensors(count)
  local rows, labels = thirds.rows(count)
  return gb.tensor(rows), gb.tensor(labels, { dtype = "int64" })
end

return thirds
