-- Finds a call in a script's text by its line and name, and edits it. The edits are shown; no file is changed.
--
-- Lua names one line for all calls of an expression, that of its beginning, so that several calls of one name are told
-- apart by their order.
local tokens = require "gpubench.tokens"

local Source = {}
Source.__index = Source

local source = {}

local statements = {}
for word in ("break do else elseif end for goto if local repeat return until while"):gmatch "%a+" do
  statements[word] = true
end

-- Whether token `index` begins something behind an expression: a statement, or the next part of a list.
local function begins_another(list, index)
  local token, before = list[index], list[index - 1]
  if token.kind == "keyword" then return statements[token.text] or false end
  if before.text == "," or before.text == ";" then return true end
  -- Two operands in a row: no expression has them.
  return token.kind == "name" and (before.kind == "name" or before.kind == "number" or before.kind == "string"
    or before.text == ")" or before.text == "]" or before.text == "}")
end

local function is_call(list, index, name)
  local token, before, behind = list[index], list[index - 1], list[index + 1]
  return token.kind == "name" and token.text == name and behind
    and (behind.text == "(" or behind.text == "{" or behind.kind == "string")
    and not (before and before.text == "function")
end

function source.new(path, text)
  return setmetatable({ path = path, text = text, tokens = tokens.of(text) }, Source)
end

local opens_block = { ["do"] = true, ["function"] = true, ["if"] = true, ["repeat"] = true }

-- The token that ends the function whose keyword is token `index`.
local function end_of_function(list, index)
  local depth = 0
  for number = index, #list do
    local token = list[number]
    if token.kind == "keyword" then
      if opens_block[token.text] then depth = depth + 1 end
      if token.text == "end" or token.text == "until" then depth = depth - 1 end
      if depth == 0 then return number end
    end
  end
  return #list
end

-- The last token of what begins at token `index`: that of a bracket or a function, or the token itself.
local function end_of(list, index)
  local token = list[index]
  if token.kind == "keyword" and token.text == "function" then return end_of_function(list, index) end
  return token.closed_by or index
end

-- What stands between a bracket and its end, separated by commas: an array of { first, last = tokens }.
local function parts_of(list, open)
  local parts, closed_by = {}, list[open].closed_by
  local first, index = open + 1, open + 1
  while index <= closed_by do
    local is_end = index == closed_by or list[index].text == "," or list[index].text == ";"
    if is_end and index > first then parts[#parts + 1] = { first = first, last = index - 1 } end
    if is_end then first = index + 1 end
    index = (is_end and index or end_of(list, index)) + 1
  end
  return parts
end

-- The arguments of a call, and its last token.
local function arguments_of(list, call)
  local open = call + 1
  if list[open].text == "(" then return parts_of(list, open), list[open].closed_by end
  local last = list[open].closed_by or open
  return { { first = open, last = last } }, last
end

-- The numbers of the tokens that name the calls of `name` in the expression that begins on this line. Those within a
-- function among its arguments are no part of it.
function Source:calls(line, name)
  local list, found, depth, own_depth = self.tokens, {}, 0, 0
  local index = 1
  while list[index] do
    local token, next_index = list[index], index + 1
    if token.line >= line then
      if token.line > line and depth <= own_depth and begins_another(list, index) then break end
      if is_call(list, index, name) then
        if #found == 0 then own_depth = depth end
        found[#found + 1] = index
      elseif token.text == "(" or token.text == "{" or token.text == "[" then
        depth = depth + 1
      elseif token.text == ")" or token.text == "}" or token.text == "]" then
        depth = depth - 1
      elseif #found > 0 and token.kind == "keyword" and token.text == "function" then
        next_index = end_of_function(list, index) + 1
      end
    end
    index = next_index
  end
  return found
end

-- The call that is made as the `count`-th one of a line and name: an expression that is run again makes its calls
-- again. Returns the token that names it, and its number in the expression; nil where the text does not have it.
function Source:call(line, name, count)
  local found = self:calls(line, name)
  if #found == 0 then return nil end
  local number = (count - 1) % #found + 1
  return found[number], number
end

function Source:argument_text(call, number)
  local argument = arguments_of(self.tokens, call)[number]
  return argument and self.text:sub(self.tokens[argument.first].first, self.tokens[argument.last].last)
end

-- Edits are { from, to = bytes, text, line }: the text takes the place of the bytes; to = from - 1 inserts.
local function edit(token, from, to, text)
  return { from = from, to = to, text = text, line = token.line }
end

local function insert_behind(token, text)
  return edit(token, token.last + 1, token.last, text)
end

local function insert_before(token, text)
  return edit(token, token.first, token.first - 1, text)
end

-- ":prefetch(...)" behind the call.
function Source:append(call, text)
  local _, last = arguments_of(self.tokens, call)
  return { insert_behind(self.tokens[last], text) }
end

function Source:wrap_argument(call, number, before, behind)
  local argument = arguments_of(self.tokens, call)[number]
  if not argument then return nil end
  return { insert_before(self.tokens[argument.first], before), insert_behind(self.tokens[argument.last], behind) }
end

function Source:replace_argument(call, number, text)
  local argument = arguments_of(self.tokens, call)[number]
  if not argument then return nil end
  local first, last = self.tokens[argument.first], self.tokens[argument.last]
  if first.line ~= last.line then return nil end
  return { edit(first, first.first, last.last, text) }
end

-- The value of a field of the table that begins at token `open`; nil where it has no such field.
local function value_of(list, open, name)
  for _, part in ipairs(parts_of(list, open)) do
    if list[part.first].text == name and list[part.first + 1].text == "=" then
      return { first = part.first + 2, last = part.last }
    end
  end
end

-- `name = value` in the table that is the call's argument; nil where the text has another expression there.
function Source:set_field(call, number, name, value)
  local list = self.tokens
  local arguments, last = arguments_of(list, call)
  local argument = arguments[number]
  local field = name .. " = " .. value
  if not argument then
    if list[last].text ~= ")" or number ~= #arguments + 1 then return nil end
    return { insert_before(list[last], (number > 1 and ", " or "") .. "{ " .. field .. " }") }
  end
  local open = list[argument.first]
  if open.text ~= "{" or open.closed_by ~= argument.last then return nil end
  local old = value_of(list, argument.first, name)
  if old then
    if list[old.first].line ~= list[old.last].line then return nil end
    return { edit(list[old.first], list[old.first].first, list[old.last].last, value) }
  end
  local is_empty = open.closed_by == argument.first + 1
  return { insert_behind(open, " " .. field .. (is_empty and " " or ",")) }
end

-- A statement at the beginning of the function that is defined on this line.
function Source:begin_function(line, text)
  local list = self.tokens
  for index, token in ipairs(list) do
    if token.line == line and token.kind == "keyword" and token.text == "function" then
      local last = tokens.end_of_parameters(list, index)
      local body = last and list[last + 1]
      if not body then return nil end
      if body.line == list[last].line then return { insert_behind(list[last], " " .. text) } end
      return self:before_line(body.line, text)
    end
  end
end

local function start_of_line(text, at)
  while at > 1 and text:sub(at - 1, at - 1) ~= "\n" do at = at - 1 end
  return at
end

-- A line of its own in front of the line, as far from the left.
function Source:before_line(line, text)
  for _, token in ipairs(self.tokens) do
    if token.line >= line then
      local first = start_of_line(self.text, token.first)
      local indent = self.text:match("^[ \t]*", first)
      return { edit(token, first, first - 1, indent .. text .. "\n") }
    end
  end
end

-- What the script calls the table of gpubench.
function Source:library_name()
  local list = self.tokens
  for index, token in ipairs(list) do
    local is_library = token.kind == "string" and token.text:sub(2, -2) == "gpubench"
    local call = list[index - 1] and list[index - 1].text == "(" and index - 2 or index - 1
    if is_library and call > 2 and list[call].text == "require" and list[call - 1].text == "=" then
      return list[call - 2].text, token.line
    end
  end
  return "gb", 1
end

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
local function changed_by_edits(text, edits)
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
function Source:changed_lines(edits)
  local changed, list = changed_by_edits(self.text, in_order(edits)), {}
  for number, old in ipairs(lines_of(self.text)) do
    local stays, new = false, {}
    for index, line in ipairs(changed[number] or {}) do
      stays = stays or line == old
      new[index] = (line == old and " " or "+") .. line
    end
    if #new > 0 then
      list[#list + 1] = self.path .. ":" .. number
      if not stays then list[#list + 1] = "-" .. old end
      table.move(new, 1, #new, #list + 1, list)
    end
  end
  return #list > 0 and table.concat(list, "\n") .. "\n" or ""
end

return source
