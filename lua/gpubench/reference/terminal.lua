-- Topics on a terminal or in a file, in 80 columns.
local prose = require "gpubench.reference.prose"

local terminal = {}

local width = 80
local widest_name = 28  -- of lists; longer names push their own line aside

local function add(lines, more)
  table.move(more, 1, #more, #lines + 1, lines)
end

local function add_text(lines, text)
  for index, paragraph in ipairs(prose.paragraphs(text)) do
    if index > 1 and not paragraph.is_item then lines[#lines + 1] = "" end
    if paragraph.lines then
      for _, line in ipairs(paragraph.lines) do lines[#lines + 1] = line == "" and "" or "    " .. line end
    elseif paragraph.is_item then
      add(lines, prose.fill(paragraph.text, width, "- ", "  "))
    else
      add(lines, prose.fill(paragraph.text, width))
    end
  end
end

-- "  name (type)  text", the text's further lines indented; it begins in a line of its own where a word does not fit.
local function add_rows(lines, rows)
  local indent = "      "
  for _, row in ipairs(rows) do
    local head = row.name .. (row.type ~= "" and " (" .. row.type .. ")" or "")
    local first_word = row.text:match "%S+" or ""
    if prose.length(head) + prose.length(first_word) + 4 <= width then
      add(lines, prose.fill(row.text, width, "  " .. head .. "  ", indent))
    else
      add(lines, prose.fill(head, width, "  ", indent))
      add(lines, prose.fill(row.text, width, indent, indent))
    end
  end
end

-- "  name  sentence", the sentences below each other and cut at the end of the line.
local function add_names(lines, names)
  local longest = 0
  for _, one in ipairs(names) do longest = math.max(longest, math.min(prose.length(one.name), widest_name)) end
  for _, one in ipairs(names) do
    local head = "  " .. one.name .. string.rep(" ", longest - prose.length(one.name) + 2)
    local line = head .. one.sentence
    lines[#lines + 1] = terminal.cut(line)
  end
end

-- The beginning of a line that is too long, up to a word's end.
function terminal.cut(line)
  line = line:gsub("%s+$", "")
  if prose.length(line) <= width then return line end
  local kept = line:sub(1, (utf8.offset(line, width - 2) or #line + 1) - 1)
  return (kept:match "^(.*%S)%s+%S*$" or kept) .. " ..."
end

-- The lines of a topic.
function terminal.lines_of(topic)
  local lines = {}
  for index, part in ipairs(topic.parts) do
    if index > 1 and lines[1] then lines[#lines + 1] = "" end
    if part.title then add(lines, prose.fill(part.title .. ":", width, "", "    ")) end
    if part.signature then add(lines, prose.fill(part.signature, width, "", "    ")) end
    for _, code in ipairs(part.code or {}) do lines[#lines + 1] = code end
    if part.text then add_text(lines, part.text) end
    if part.rows then add_rows(lines, part.rows) end
    if part.names then add_names(lines, part.names) end
  end
  return lines
end

-- Topics below each other: name, kind and sentence.
function terminal.list(list)
  local names = {}
  for index, one in ipairs(list) do
    names[index] = { name = one.name, sentence = "(" .. one.kind .. ") " .. one.sentence }
  end
  local lines = {}
  add_names(lines, names)
  return lines
end

return terminal
