-- Values as a Lua source writes them down: texts, numbers, true, false, nil and tables of these. The source is read and
-- never run, so that it can call nothing, and takes no more time and memory than its size allows.
local check = require "gpubench.check"
local tokens = require "gpubench.tokens"
local one_line = require("gpubench.native")._native.results.one_line

local literals = {}

-- Larger files are no declarations that people wrote.
literals.most_bytes = 1 << 20
local deepest = 32

local escapes = {
  a = "\a", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v", ["\\"] = "\\", ['"'] = '"', ["'"] = "'",
}

-- What stands behind a backslash: patterns with a position at their end, and what they mean.
local longer_escapes = {
  { "^\r\n()", function() return "\n" end },
  { "^\n\r()", function() return "\n" end },
  { "^[\r\n]()", function() return "\n" end },
  { "^z%s*()", function() return "" end },
  { "^x(%x%x)()", function(digits) return string.char(tonumber(digits, 16)) end },
  { "^(%d%d?%d?)()", function(digits) return tonumber(digits) < 256 and string.char(tonumber(digits)) or nil end },
  { "^u{0*(%x%x?%x?%x?%x?%x?%x?%x?)}()", function(digits)
    local code = tonumber(digits, 16)
    return code < 1 << 31 and utf8.char(code) or nil
  end },
}

-- The meaning of the escape sequence behind a backslash and the byte behind it; nil for one that there is not.
local function read_escape(text, at)
  local short = escapes[text:sub(at, at)]
  if short then return short, at + 1 end
  for _, one in ipairs(longer_escapes) do
    local digits, after = text:match(one[1], at)
    if digits then
      local meaning = one[2](digits)
      if meaning then return meaning, after or digits end
    end
  end
end

-- The text of a string as the source has it, with its quotes; nil for one that is not finished or has a wrong escape.
function literals.text_of(written)
  local level, long = written:match "^%[(=*)%[\r?\n?(.*)%]%1%]$"
  if level then return (long:gsub("\r\n?", "\n")) end
  local quote, inner = written:match "^([\"'])(.*)%1$"
  if not quote then return nil end
  local parts, at = {}, 1
  while true do
    local backslash = inner:find("\\", at, true)
    local plain = inner:sub(at, (backslash or 0) - 1)
    if plain:find("[\r\n" .. quote .. "]") then return nil end
    parts[#parts + 1] = plain
    if not backslash then return table.concat(parts) end
    parts[#parts + 1], at = read_escape(inner, backslash + 1)
    if not at then return nil end
  end
end

local Reader = {}
Reader.__index = Reader

function Reader:step()
  self.token = self.next_token()
end

function Reader:fail(text, ...)
  local line = self.token and self.token.line or self.last_line
  check.fail("%s:%d: %s; %s", self.name, line, string.format(text, ...), self.rule)
end

function Reader:given()
  return self.token and "'" .. one_line(self.token.text:sub(1, 40)) .. "'" or "the end of the file"
end

function Reader:is(text)
  return self.token and self.token.kind ~= "string" and self.token.text == text
end

-- Passes the token, if it is the next one.
function Reader:takes(text)
  local found = self:is(text)
  if found then self:step() end
  return found
end

function Reader:expect(text)
  if not self:takes(text) then self:fail("'%s' expected, got %s", text, self:given()) end
end

-- Texts joined by "..".
function Reader:text()
  local parts = {}
  repeat
    if not self.token or self.token.kind ~= "string" then self:fail("a text expected, got %s", self:given()) end
    parts[#parts + 1] = literals.text_of(self.token.text)
      or self:fail("a text that is not finished, or has an unknown escape: %s", self:given())
    self:step()
  until not self:takes ".."
  return table.concat(parts)
end

function Reader:number(sign)
  local value = self.token and self.token.kind == "number" and tonumber(self.token.text)
  if not value then self:fail("a number expected, got %s", self:given()) end
  self:step()
  return sign * value
end

-- The name of a field before "=", or nil for a value without one.
function Reader:field_name()
  local token = self.token
  if self:takes "[" then
    local name = self:value()
    self:expect "]"
    self:expect "="
    if name == nil then self:fail "a field's name cannot be nil" end
    return name
  end
  if token.kind ~= "name" then return nil end
  self:step()
  if not self:takes "=" then
    self.token = token
    self:fail("a value expected, got %s", self:given())
  end
  return token.text
end

function Reader:table()
  local made, position = {}, 0
  self.depth = self.depth + 1
  if self.depth > deepest then self:fail("tables are nested more than %d deep", deepest) end
  while not self:takes "}" do
    if not self.token then self:fail "a table is not closed" end
    local name = self:field_name()
    if name == nil then
      position = position + 1
      name = position
    end
    made[name] = self:value()
    if not self:takes "," and not self:takes ";" and not self:is "}" then
      self:fail("',' or '}' expected, got %s", self:given())
    end
  end
  self.depth = self.depth - 1
  return made
end

local words = { ["true"] = true, ["false"] = false }

function Reader:value()
  local token = self.token
  if token and token.kind == "string" then return self:text() end
  if token and token.kind == "number" then return self:number(1) end
  if self:takes "-" then return self:number(-1) end
  if self:takes "{" then return self:table() end
  if self:takes "nil" then return nil end
  if not token or token.kind ~= "keyword" or words[token.text] == nil then
    self:fail("a value expected, got %s", self:given())
  end
  self:step()
  return words[token.text]
end

-- The value that a source returns which consists of `return VALUE`. name: of the file; rule: what such a file may
-- contain, for messages.
function literals.returned(name, text, rule)
  local _, lines = text:gsub("\n", "")
  local reader = setmetatable({
    name = name, rule = rule, depth = 0, last_line = lines + 1, next_token = tokens.each(text),
  }, Reader)
  reader:step()
  reader:expect "return"
  local value = reader:value()
  reader:takes ";"
  if reader.token then reader:fail("the end of the file expected, got %s", reader:given()) end
  return value
end

-- The text of a file; nil and the reason for one that is no ordinary file, or too large.
function literals.read_file(path)
  local file <close>, reason = io.open(path, "rb")
  if not file then return nil, reason end
  local size, no_size = file:seek "end"
  if not size then return nil, no_size end
  if size > literals.most_bytes then
    return nil, string.format("it has %d bytes; at most %d are possible", size, literals.most_bytes)
  end
  file:seek "set"
  local text, unread = file:read(literals.most_bytes)
  return text or not unread and "" or nil, unread
end

-- Brackets and blocks open and close.
local changes_of_depth = {
  ["{"] = 1, ["("] = 1, ["["] = 1, ["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1,
  ["}"] = -1, [")"] = -1, ["]"] = -1, ["end"] = -1, ["until"] = -1,
}

-- Moves behind the "{" of the first `gb.experiment {` in the source; false if there is none.
local function find_declaration(next_token)
  local before = {}
  for token in next_token do
    if token.text == "{" and before[1] == "experiment" and before[2] == "." and before[3] == "gb" then return true end
    if token.text ~= "(" then before = { token.text, before[1], before[2] } end
  end
  return false
end

-- The fields of the experiment that a script declares first, as far as they are texts, written there, joined by "..":
-- by name. Nil for a script without one.
function literals.texts_of_experiment(text)
  local next_token = tokens.each(text)
  if not find_declaration(next_token) then return nil end
  local texts, depth, is_start, before, name, parts = {}, 1, true, nil, nil, nil
  for token in next_token do
    local word = token.kind ~= "string" and token.text or nil
    local is_end = depth == 1 and (word == "," or word == ";" or word == "}")
    if is_end then
      if parts and parts[1] and before ~= ".." and texts[name] == nil then texts[name] = table.concat(parts) end
      name, parts = nil, nil
    elseif depth == 1 and is_start and token.kind == "name" then
      name, parts = token.text, nil
    elseif depth == 1 and name and before == name and word == "=" then
      parts = {}
    elseif parts and token.kind == "string" and (before == "=" or before == "..") then
      local one = literals.text_of(token.text)
      if one then parts[#parts + 1] = one else name, parts = nil, nil end
    elseif not (parts and parts[1] and word == "..") then
      name, parts = nil, nil
    end
    is_start, before = is_end, word
    depth = depth + (word and changes_of_depth[word] or 0)
    if depth == 0 then break end
  end
  return texts
end

return literals
