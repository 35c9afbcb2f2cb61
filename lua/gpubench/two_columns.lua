-- Lines of a name and a text, the texts below each other.
local native = require("gpubench.native")._native

local two_columns = {}

-- The width of the longest name.
function two_columns.width_of(lines)
  local width = 0
  for _, line in ipairs(lines) do width = math.max(width, #line[1]) end
  return width
end

-- Prints lines { name, text }. `width`: of the names, by default that of the longest one.
function two_columns.print(lines, width, indent)
  width = width or two_columns.width_of(lines)
  for _, line in ipairs(lines) do
    local name, text = line[1], line[2]
    print((indent or "") .. native.results.one_line(name .. string.rep(" ", width - #name + 2) .. text))
  end
end

return two_columns
