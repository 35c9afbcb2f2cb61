-- Reads the annotation files of lua/meta: the functions, classes, members and examples that they document.
local reference = {}

local function read_lines(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

local function class_of(doc, name)
  doc.classes[name] = doc.classes[name] or { methods = {}, fields = {}, operators = {}, bound = false }
  return doc.classes[name]
end

-- Annotations stand before what they annotate, so a class stays current until the next one.
local function read_annotation(doc, state, line)
  local class = line:match "^%-%-%-@class%s+([%w_.]+)"
  if class then
    state.class = class
    class_of(doc, class).base = line:match "^%-%-%-@class%s+[%w_.]+%s*:%s*([%w_.]+)"
  end
  if not state.class then return end
  local field = line:match "^%-%-%-@field%s+([%w_]+)%??%s"
  if field then class_of(doc, state.class).fields[field] = true end
  local operator = line:match "^%-%-%-@operator%s+([%a]+)"
  if operator then class_of(doc, state.class).operators[operator] = true end
  if line:match "^%-%-%-@overload" and state.is_class_block then class_of(doc, state.class).operators.call = true end
end

local function read_code(doc, line, where)
  local path = line:match "^function%s+gb%.([%w_.]+)%("
  if path then doc.functions[path] = where end
  local class, method = line:match "^function%s+([%w_]+):([%w_]+)%("
  if class then class_of(doc, class).methods[method] = true end
  local bound = line:match "^local%s+([%w_]+)%s*=%s*{}"
  if bound and bound ~= "gb" then class_of(doc, bound).bound = true end
  local name, value = line:match "^gb%.([%w_.]+)%s*=%s*(.*)"
  if name then
    if value:match "^{}" then doc.tables[name] = where else doc.values[name] = where end
  end
end

local function read_example(doc, state, line, where)
  if line:match "^%-%-%-%s*```lua" then
    state.example = { where = where, lines = {} }
  elseif state.example and line:match "^%-%-%-%s*```" then
    doc.examples[#doc.examples + 1] = state.example
    state.example = nil
  elseif state.example then
    table.insert(state.example.lines, (line:gsub("^%-%-%-%s?", "")))
  end
end

local function read_file(doc, path)
  local state = {}
  for number, line in ipairs(read_lines(path)) do
    local where = { file = path, line = number }
    read_example(doc, state, line, where)
    if not state.example then
      if line:match "^%-%-%-@class" then state.is_class_block = true end
      if not line:match "^%-%-%-" then
        state.is_class_block = false
        read_code(doc, line, where)
      else
        read_annotation(doc, state, line)
      end
    end
  end
end

-- { functions, tables, values: dotted name below gb -> where; classes: name -> members; examples: { where, lines } }
function reference.read(files)
  local doc = { functions = {}, tables = {}, values = {}, classes = {}, examples = {} }
  for _, path in ipairs(files) do read_file(doc, path) end
  return doc
end

return reference
