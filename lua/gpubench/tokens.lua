-- The tokens of a Lua source, for what is read from its text without running it, and for changes of single calls in it:
-- patterns alone would find calls in comments and strings.
local tokens = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true until
  while]]):gmatch "%a+" do keywords[word] = true end

-- The last byte of a long string or comment that begins at `at` with [[ or [=[; nil where none begins.
local function end_of_long_bracket(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local _, last = text:find("]" .. level .. "]", at, true)
  return last or #text
end

-- The next byte that is neither blank nor part of a comment.
local function after_blanks(text, at)
  while true do
    at = text:find("%S", at) or #text + 1
    if text:sub(at, at + 1) ~= "--" then return at end
    at = (end_of_long_bracket(text, at + 2) or (text:find("\n", at, true) or #text + 1) - 1) + 1
  end
end

local function end_of_string(text, at)
  local quote = text:sub(at, at)
  local next_byte = at + 1
  while true do
    local found = text:find('[\\"\'\r\n]', next_byte)
    if not found then return #text end
    local byte = text:sub(found, found)
    if byte == quote or byte == "\r" or byte == "\n" then return found end
    next_byte = text:match("^\\z%s*()", found) or text:match("^\\\r\n()", found) or text:match("^\\\n\r()", found)
      or found + (byte == "\\" and 2 or 1)
  end
end

local function end_of_number(text, at)
  local last = at
  while true do
    local _, found = text:find("^[%w.]+", last)
    last = found or last
    local exponent = text:sub(last, last):find "[eEpP]" and text:find("^[+-]", last + 1)
    if not exponent then return last end
    last = last + 2
  end
end

local symbols = { "...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>" }

local function end_of_symbol(text, at)
  for _, symbol in ipairs(symbols) do
    if text:sub(at, at + #symbol - 1) == symbol then return at + #symbol - 1 end
  end
  return at
end

-- The kind of the token at `at`, and its last byte.
local function read(text, at)
  local _, last = text:find("^[%a_][%w_]*", at)
  if last then return keywords[text:sub(at, last)] and "keyword" or "name", last end
  if text:find("^['\"]", at) then return "string", end_of_string(text, at) end
  last = end_of_long_bracket(text, at)
  if last then return "string", last end
  if text:find("^%.?%d", at) then return "number", end_of_number(text, at) end
  return "symbol", end_of_symbol(text, at)
end

local closing = { ["("] = ")", ["["] = "]", ["{"] = "}" }

-- Iterates over { kind = "name", "keyword", "string", "number" or "symbol", text, first, last = its bytes, line }.
function tokens.each(text)
  local line, counted = 1, 1
  local at = after_blanks(text, 1)
  return function()
    if at > #text then return nil end
    local kind, last = read(text, at)
    for _ in text:sub(counted, at - 1):gmatch "\n" do line = line + 1 end
    local token = { kind = kind, text = text:sub(at, last), first = at, last = last, line = line }
    counted, at = at, after_blanks(text, last + 1)
    return token
  end
end

-- An array of them; those of opening brackets also have closed_by = the number of the closing one.
function tokens.of(text)
  local list, open = {}, {}
  for token in tokens.each(text) do
    list[#list + 1] = token
    if token.kind == "symbol" and closing[token.text] then
      open[#open + 1] = token
    elseif token.kind == "symbol" and #open > 0 and closing[open[#open].text] == token.text then
      table.remove(open).closed_by = #list
    end
  end
  return list
end

-- The number of the bracket that closes the parameters of the function whose keyword is token `index`; nil in a broken
-- source.
function tokens.end_of_parameters(list, index)
  for number = index + 1, #list do
    if list[number].text == "(" then return list[number].closed_by end
  end
end

local without_tail_calls = " local gpubench_tune <close> = nil"

-- The source, on the same lines, without tail calls: a variable to be closed keeps a function's frame, and with it the
-- line of each call that it makes.
function tokens.keep_frames(text)
  local list, parts, written = tokens.of(text), {}, 0
  for index, token in ipairs(list) do
    local last = token.text == "function" and token.kind == "keyword" and tokens.end_of_parameters(list, index)
    if last then
      parts[#parts + 1] = text:sub(written + 1, list[last].last) .. without_tail_calls
      written = list[last].last
    end
  end
  return table.concat(parts) .. text:sub(written + 1)
end

return tokens
