-- The edits of a source as a unified diff. It is printed and never applied.
local diff = {}

local context = 2

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

-- The old lines of hunks: changed ones with those around them, { first, last }.
local function hunks_of(changed, count)
  local hunks = {}
  for number = 1, count do
    local last_hunk = hunks[#hunks]
    if changed[number] and last_hunk and number - context <= last_hunk.last + 1 then
      last_hunk.last = math.min(number + context, count)
    elseif changed[number] then
      hunks[#hunks + 1] = { first = math.max(number - context, 1), last = math.min(number + context, count) }
    end
  end
  return hunks
end

-- The lines of a hunk: of neighbouring changed lines the old ones come first. A line that stays within those in its place
-- is no change: an insertion before it.
local function body_of(hunk, lines, changed)
  local body, added, grown = {}, {}, 0
  local function keep(line)
    table.move(added, 1, #added, #body + 1, body)
    added = {}
    body[#body + 1] = " " .. line
  end
  for number = hunk.first, hunk.last do
    local old, new = lines[number], changed[number] or { lines[number] }
    local kept
    for index, line in ipairs(new) do kept = line == old and index or kept end
    if not kept then body[#body + 1] = "-" .. old end
    for index, line in ipairs(new) do
      if index == kept then keep(line) else added[#added + 1] = "+" .. line end
    end
    grown = grown + #new - 1
  end
  table.move(added, 1, #added, #body + 1, body)
  return body, grown
end

function diff.of(path, text, edits)
  local lines, changed = lines_of(text), changed_lines(text, in_order(edits))
  local list, added = { "--- " .. path, "+++ " .. path }, 0
  for _, hunk in ipairs(hunks_of(changed, #lines)) do
    local body, grown = body_of(hunk, lines, changed)
    local count = hunk.last - hunk.first + 1
    list[#list + 1] = string.format("@@ -%d,%d +%d,%d @@", hunk.first, count, hunk.first + added, count + grown)
    table.move(body, 1, #body, #list + 1, list)
    added = added + grown
  end
  return #list > 2 and table.concat(list, "\n") .. "\n" or ""
end

return diff
