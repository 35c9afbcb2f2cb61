-- Texts of the reference: their first sentence, and their lines filled to a width.
local prose = {}

-- Letters, not bytes; of text that is no UTF-8 the bytes.
function prose.length(text)
  return utf8.len(text) or #text
end

-- The words of a text in lines of at most `width` letters; the first begins with `first`, the others with `indent`.
function prose.fill(text, width, first, indent)
  local lines, line, is_empty = {}, first or "", true
  for word in text:gmatch "%S+" do
    if not is_empty and prose.length(line) + 1 + prose.length(word) > width then
      lines[#lines + 1] = line
      line, is_empty = indent or "", true
    end
    line = line .. (is_empty and "" or " ") .. word
    is_empty = false
  end
  lines[#lines + 1] = (line:gsub("%s+$", ""))
  return lines
end

-- A text of lines as paragraphs: { text } each, those of a list { text, is_item = true }; examples stay as they are.
function prose.paragraphs(lines)
  local paragraphs, open = {}, nil
  local function close() open = nil end
  for _, line in ipairs(lines) do
    if type(line) == "table" then
      close()
      paragraphs[#paragraphs + 1] = line
    elseif not line:find "%S" then
      close()
    else
      local item = line:match "^%s*%- (.*)$"
      if item or not open then
        open = { text = item or line, is_item = item ~= nil }
        paragraphs[#paragraphs + 1] = open
      else
        open.text = open.text .. " " .. line:match "^%s*(.*)$"
      end
    end
  end
  return paragraphs
end

-- The first sentence; of a text that is one alone, all of it.
function prose.sentence(text)
  return text:match "^(.-%.)%s+%u" or text:match "^(.-%.)%s+`" or text
end

-- The first sentence of the lines of a block; empty if there is none.
function prose.first_sentence(lines)
  for _, paragraph in ipairs(prose.paragraphs(lines or {})) do
    if paragraph.text then return prose.sentence(paragraph.text) end
  end
  return ""
end

-- All words of the lines, for a search.
function prose.words(lines)
  local parts = {}
  for _, line in ipairs(lines or {}) do
    if type(line) == "string" then parts[#parts + 1] = line end
  end
  return table.concat(parts, " ")
end

-- "a, b, c and 4 others".
function prose.some(names, most)
  if #names <= most + 1 then return table.concat(names, ", ") end
  return table.concat(names, ", ", 1, most) .. " and " .. #names - most .. " others"
end

return prose
