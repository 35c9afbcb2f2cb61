-- Reads the annotations of a file of lua/meta by the rules of lua-language-server, which editors use. A line that
-- breaks one is an error that names file and line.
local annotations = {}

-- A text that is read from the left. `names` gets the types that it names.
local Reader = {}
Reader.__index = Reader

function Reader:take(pattern)
  local found, rest = self.text:match("^%s*(" .. pattern .. ")()")
  if found then self.text = self.text:sub(rest) end
  return found
end

function Reader:need(pattern, what)
  return self:take(pattern) or error(string.format("%s expected at '%s'", what, self.text), 0)
end

function Reader:name()
  return self:take "%.%.%." or self:need("[%a_][%w_]*", "a name")
end

-- name: type, ... up to the closing bracket, as arguments of a function and fields of a table have it.
function Reader:fields(close)
  if self:take(close) then return end
  repeat
    self:name()
    self:take "%?"
    if self:take ":" then self:type() end
  until not self:take ","
  self:need(close, "a closing bracket")
end

-- type, type, ... of what a function returns.
function Reader:types()
  repeat
    if not self:take "%.%.%." then self:type() end
  until not self:take ","
end

function Reader:single_type()
  if self:take '"[^"]*"' or self:take "%-?%d+%f[^%w]" then return end
  if self:take "%(" then
    self:type()
    self:need("%)", "a closing bracket")
  elseif self:take "{" then
    self:fields "}"
  elseif self:take "fun%(" then
    self:fields "%)"
    if self:take ":" then self:types() end
  else
    local name = self:need("[%a_][%w_.]*", "a type")
    self.names[#self.names + 1] = name
    if self:take "<" then
      self:types()
      self:need(">", "a closing bracket")
    end
  end
end

-- Union, list and optional: "A|B[]?". A type ends at the first space that no operator follows.
function Reader:type()
  repeat
    self:single_type()
    while self.text:find "^%[%]" or self.text:find "^%?" do
      self.text = self.text:sub(self.text:find "^%?" and 2 or 3)
    end
  until not self:take "|"
end

-- How the words behind each tag are read; what is left is the description.
local tags = {
  class = function(reader)
    local class = reader:need("[%a_][%w_.]*", "the name of a class")
    if reader:take ":" then reader:types() end
    if reader.text:find "%S" then error("the end of the line expected at '" .. reader.text .. "'", 0) end
    return class
  end,
  alias = function(reader)
    local alias = reader:need("[%a_][%w_]*", "the name of an alias")
    reader:type()
    return alias
  end,
  field = function(reader)
    local field = "[]"
    if reader:take "%[" then
      reader:type()
      reader:need("%]", "a closing bracket")
    else
      field = reader:name()
      reader:take "%?"
    end
    reader:type()
    return field
  end,
  param = function(reader)
    local param = reader:name()
    reader:take "%?"
    reader:type()
    return param
  end,
  generic = function(reader) return reader:need("%u%w*", "the name of a type") end,
  operator = function(reader)
    local operator = reader:need("%a+", "an operator")
    if reader:take "%(" then
      reader:type()
      reader:need("%)", "a closing bracket")
    end
    reader:need(":", "':'")
    reader:type()
    return operator
  end,
  overload = function(reader) reader:type() end,
  ["return"] = function(reader) reader:types() end,
  type = function(reader) reader:type() end,
  meta = function(reader) return reader:take "[%w_]+" end,
}

-- { tag, name, types = { names of types } } of a line behind "---@".
function annotations.parse(text)
  local tag, rest = text:match "^(%a+)%s*(.*)$"
  local read = tags[tag] or error("unknown tag '@" .. tostring(tag) .. "'", 0)
  local reader = setmetatable({ text = rest, names = {} }, Reader)
  return { tag = tag, name = read(reader), types = reader.names }
end

-- The blocks of a file: annotations that stand together, and the line of code behind them, if there is one.
-- { where, code, { tag, name, types }, ... }
function annotations.read(path)
  local blocks, block, number = {}, nil, 0
  for line in io.lines(path) do
    number = number + 1
    if line:match "^%-%-%-" then
      block = block or { where = string.format("%s:%d", path:match "[^/]+$", number) }
      local text = line:match "^%-%-%-@(.*)$"
      if text then
        local ok, one = pcall(annotations.parse, text)
        if not ok then error(string.format("%s:%d: %s", path, number, one), 0) end
        block[#block + 1] = one
      end
    else
      if block or line:match "^function" then
        block = block or { where = string.format("%s:%d", path:match "[^/]+$", number) }
        block.code = line
        blocks[#blocks + 1] = block
      end
      block = nil
    end
  end
  return blocks
end

return annotations
