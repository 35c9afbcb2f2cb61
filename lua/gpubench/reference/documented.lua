-- What lua/meta documents: the functions and tables of gb, the classes with their fields and methods, and examples.
local annotations = require "gpubench.reference.annotations"

local documented = {}

local function class_of(doc, name)
  if not doc.classes[name] then
    doc.classes[name] = { name = name, fields = {}, methods = {}, operators = {}, is_object = false, examples = {} }
    table.insert(doc.order, name)
  end
  return doc.classes[name]
end

local function all_of(block, tag)
  local list = {}
  for _, one in ipairs(block) do
    if one.tag == tag then list[#list + 1] = one end
  end
  return list
end

local function describe(entry, block)
  entry.text, entry.examples, entry.where, entry.file = block.text, block.examples, block.where, block.file
  return entry
end

-- What calls and results are like; of a function, a method or an object that can be called.
local function call_of(block)
  return { params = all_of(block, "param"), returns = all_of(block, "return"), overloads = all_of(block, "overload") }
end

-- A later declaration adds to a class: methods in another file, say.
local function read_class(doc, block)
  local class = class_of(doc, block[1].name)
  class.base = block[1].base or class.base
  if not class.where or #block.text > 0 then describe(class, block) end
  for _, one in ipairs(block) do
    if one.tag == "field" then
      if class.fields[one.name] then
        error(string.format("%s: field '%s' of %s is there twice", block.where, one.name, class.name), 0)
      end
      class.fields[one.name] = one
      table.insert(class.fields, one)
    elseif one.tag == "operator" then
      class.operators[one.name] = true
    elseif one.tag == "overload" then
      class.operators.call = true
    end
  end
  if class.operators.call then class.overloads = class.overloads or all_of(block, "overload") end
end

local function read_function(doc, block, name, arguments)
  local entry = describe(call_of(block), block)
  entry.arguments = arguments
  local class, method = name:match "^([%w_]+):([%w_]+)$"
  if class then
    entry.name, entry.class = name, class
    local methods = class_of(doc, class).methods
    methods[method] = entry
    table.insert(methods, entry)
  else
    entry.name = name
    local path = name:match "^gb%.(.*)$"
    doc.functions[path] = entry
    table.insert(doc.functions, entry)
  end
end

local function read_block(doc, block)
  local code = block.code
  local name, arguments = code:match "^function%s+([%w_.:]+)%((.*)%)"
  if block[1] and block[1].tag == "alias" then
    local one = block[1]
    doc.aliases[one.name] = describe({ name = one.name, type = one.type, meaning = one.text }, block)
  elseif block[1] and block[1].tag == "class" then
    read_class(doc, block)
  end
  for index, example in ipairs(block.examples) do
    example.where = { file = block.file, line = example.line }
    table.insert(doc.examples, example)
    example.index = index
  end
  if name then return read_function(doc, block, name, arguments) end
  local object = code:match "^local%s+([%w_]+)%s*=%s*{}"
  if object and object ~= "gb" then class_of(doc, object).is_object = true end
  local path, value = code:match "^gb%.([%w_.]+)%s*=%s*(.*)"
  if not path then return end
  local entry = describe({ name = "gb." .. path, value = value }, block)
  local kind = value:match "^{}" and doc.tables or doc.values
  if not kind[path] or #block.text > 0 then kind[path] = entry end
end

-- { functions, tables, values: dotted name below gb -> entry; functions are listed in their order too; classes: name ->
-- { fields, methods, operators, base, is_object }; aliases; order: names of classes; examples: { where, lines } }
function documented.read(files)
  local doc = { functions = {}, tables = {}, values = {}, classes = {}, aliases = {}, order = {}, examples = {} }
  for _, path in ipairs(files) do
    for _, block in ipairs(annotations.read(path)) do read_block(doc, block) end
  end
  return doc
end

-- The fields of a class and of those that it extends, its own first.
function documented.fields_of(doc, class)
  local fields, seen = {}, {}
  local function add(one)
    for _, field in ipairs(one.fields) do
      if not seen[field.name] then fields[#fields + 1] = field end
      seen[field.name] = true
    end
    for base in (one.base or ""):gmatch "[%w_.]+" do
      if doc.classes[base] then add(doc.classes[base]) end
    end
  end
  if doc.classes[class] then add(doc.classes[class]) end
  return fields
end

-- The classes of named options among the types of a parameter: those that are tables with fields, and no objects.
function documented.options_of(doc, param)
  local list, seen = {}, {}
  for _, name in ipairs(param.types) do
    local class = doc.classes[name]
    if class and not class.is_object and #documented.fields_of(doc, name) > 0 and not seen[name] and name ~= "Row" then
      list[#list + 1] = class
      seen[name] = true
    end
  end
  return list
end

return documented
