-- The lines of a source that edits change, as they are and as they would be. They are printed; no file is changed.
local diff = {}

local function lines_of(text)
  local lines = {}
  for line in (text:sub(-1) == "\n" and text or text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

-- Equal edits once, from the first to the last; those at one place in their order.
local function in_order(edits)
  local list, seen = {}, {}
  for index, one in ipairs(edits) do
    local key = one.from .. ":" .. one.to .. ":" .. one.text
    if not seen[key] then list[#list + 1] = { edit = one, index = index } end
    seen[key] = true
  end
  table.sort(list, function(a, b)
    if a.edit.from ~= b.edit.from then return a.edit.from < b.edit.from end
    return a.index < b.index
  end)
  for index, one in ipairs(list) do list[index] = one.edit end
  return list
end

-- By the number of an old line: the text of the lines in its place. Edits lie within one line.
local function changed_lines(text, edits)
  local changed, first_byte, number, next_edit = {}, 1, 1, 1
  for _, line in ipairs(lines_of(text)) do
    local last_byte, parts, written = first_byte + #line, {}, first_byte
    while edits[next_edit] and edits[next_edit].from <= last_byte do
      local one = edits[next_edit]
      parts[#parts + 1] = text:sub(written, one.from - 1) .. one.text
      written = one.to + 1
      next_edit = next_edit + 1
    end
    if #parts > 0 then changed[number] = lines_of(table.concat(parts) .. text:sub(written, last_byte - 1)) end
    first_byte, number = last_byte + 1, number + 1
  end
  return changed
end

-- "script.lua:12", the old line behind "-" and those in its place behind "+"; an insertion stands before the line that
-- stays.
function diff.of(path, text, edits)
  local changed, list = changed_lines(text, in_order(edits)), {}
  for number, old in ipairs(lines_of(text)) do
    local stays, new = false, {}
    for index, line in ipairs(changed[number] or {}) do
      stays = stays or line == old
      new[index] = (line == old and " " or "+") .. line
    end
    if #new > 0 then
      list[#list + 1] = path .. ":" .. number
      if not stays then list[#list + 1] = "-" .. old end
      table.move(new, 1, #new, #list + 1, list)
    end
  end
  return #list > 0 and table.concat(list, "\n") .. "\n" or ""
end

return diff
