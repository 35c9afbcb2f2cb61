-- Reads the annotations of a file of lua/meta by the rules of lua-language-server, which editors use: types, and what
-- is said of each. A line that breaks a rule is an error that names file and line.
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

-- Reads by one of the functions above, and returns the text that it has read.
function Reader:text_of(read)
  local before = self.text
  read(self)
  return (before:sub(1, #before - #self.text):match "^%s*(.*)$")
end

-- How the words behind each tag are read into `one`; what is left is its description.
local tags = {}

function tags.class(reader, one)
  one.name = reader:need("[%a_][%w_.]*", "the name of a class")
  if reader:take ":" then one.base = reader:text_of(Reader.types) end
  if reader.text:find "%S" then error("the end of the line expected at '" .. reader.text .. "'", 0) end
end

function tags.alias(reader, one)
  one.name = reader:need("[%a_][%w_]*", "the name of an alias")
  one.type = reader:text_of(Reader.type)
end

function tags.field(reader, one)
  one.name = "[]"
  if reader:take "%[" then
    reader:type()
    reader:need("%]", "a closing bracket")
  else
    one.name = reader:name()
    one.optional = reader:take "%?" ~= nil
  end
  one.type = reader:text_of(Reader.type)
end

function tags.param(reader, one)
  one.name = reader:name()
  one.optional = reader:take "%?" ~= nil
  one.type = reader:text_of(Reader.type)
end

function tags.generic(reader, one) one.name = reader:need("%u%w*", "the name of a type") end

function tags.operator(reader, one)
  one.name = reader:need("%a+", "an operator")
  if reader:take "%(" then
    reader:type()
    reader:need("%)", "a closing bracket")
  end
  reader:need(":", "':'")
  reader:type()
end

function tags.overload(reader, one) one.type = reader:text_of(Reader.type) end
tags["return"] = function(reader, one) one.type = reader:text_of(Reader.types) end
function tags.type(reader, one) one.type = reader:text_of(Reader.type) end
function tags.meta(reader, one) one.name = reader:take "[%w_]+" end

-- "integer?" and "A|B|nil" may be left out; the end of "fun(): integer?" is that of what the function returns.
local function without_optional(one)
  if not one.type or one.tag == "return" or one.type:find "^fun%b():" then return end
  local shorter = one.type:match "^(.*)%?$" or one.type:match "^(.*)|nil$"
  if not shorter then return end
  one.optional = true
  local inner = shorter:match "^%((.*)%)$"
  one.type = inner and not inner:find "[()]" and inner or shorter
end

-- { tag, name, type, optional, base, types = { names of types }, text = the description } of a line behind "---@".
function annotations.parse(text)
  local tag, rest = text:match "^(%a+)%s*(.*)$"
  local read = tags[tag] or error("unknown tag '@" .. tostring(tag) .. "'", 0)
  local reader = setmetatable({ text = rest, names = {} }, Reader)
  local one = { tag = tag, types = reader.names }
  read(reader, one)
  without_optional(one)
  one.text = reader.text:match "^%s*(.-)%s*$"
  local more = one.type and one.text:match "^%.%.%.%s*(.*)$"  -- any number of the last type
  if more then one.type, one.text = one.type .. " ...", more end
  return one
end

-- Adds a line of text to what is described: the last tag, or the block itself before any.
local function add_text(block, line)
  local last = block[#block]
  if last then
    last.text = last.text .. (last.text == "" and "" or " ") .. line:match "^%s*(.-)%s*$"
  else
    block.text[#block.text + 1] = line
  end
end

local function add_line(block, line, number)
  if line:find "^%s*```lua" then
    block.example = { line = number, lines = {} }
  elseif block.example and line:find "^%s*```" then
    block.examples[#block.examples + 1] = block.example
    block.text[#block.text + 1] = block.example
    block.example = nil
  elseif block.example then
    table.insert(block.example.lines, line)
  else
    add_text(block, line)
  end
end

-- A line of code with those behind it that its brackets still need.
local function whole_line(line, next_line)
  while line:match "^function%s+[%w_.:]+%([^)]*$" do
    local more = next_line()
    if not more then break end
    line = line .. " " .. more:match "^%s*(.-)%s*$"
  end
  return line
end

-- The blocks of a file: annotations that stand together, and the line of code behind them, if there is one.
-- { where, file, text = { lines and examples, in their order }, examples = { { line, lines } }, code, tag, tag, ... }
function annotations.read(path)
  local blocks, block, number = {}, nil, 0
  local file = path:match "[^/]+$"
  local function new_block() return { where = string.format("%s:%d", file, number), file = file, text = {},
    examples = {} } end
  local read_line = io.lines(path)
  local function next_line()
    number = number + 1
    return read_line()
  end
  for line in next_line do
    local comment = line:match "^%-%-%-(.*)$"
    if comment then
      block = block or new_block()
      local tag = not block.example and comment:match "^@(.*)$"
      if tag then
        local ok, one = pcall(annotations.parse, tag)
        if not ok then error(string.format("%s:%d: %s", path, number, one), 0) end
        block[#block + 1] = one
      else
        add_line(block, (comment:gsub("^ ", "")), number)
      end
    else
      if block or line:match "^function" or line:match "^gb%." or line:match "^local" then
        block = block or new_block()
        block.code = whole_line(line, next_line)
        blocks[#blocks + 1] = block
      end
      block = nil
    end
  end
  return blocks
end

return annotations
