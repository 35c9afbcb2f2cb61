-- The reference and the program agree: every function, class and member that scripts can reach is documented, and
-- nothing is documented that does not exist.
local gb = require "gpubench"
local documented = require "gpubench.reference.documented"
local testing = require "testing"

local native = gb._native
local doc = documented.read(native.system.scripts_in(native.system.resource "lua/meta"))

local function names_of(list)
  local names = {}
  for name in pairs(list) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function walk(t, prefix, found)
  for _, name in ipairs(names_of(t)) do
    local value, path = t[name], prefix .. name
    if not name:find "^_" then
      if type(value) == "function" then
        found.functions[path] = true
      elseif type(value) == "table" then
        found.tables[path] = true
        walk(value, path .. ".", found)
      else
        found.values[path] = true
      end
    end
  end
  return found
end

local registered = walk(gb, "", { functions = {}, tables = {}, values = {} })

-- What stands in one and not in the other, as text.
local function missing(from, present)
  local list = {}
  for _, name in ipairs(names_of(from)) do
    if not present[name] then list[#list + 1] = name end
  end
  return table.concat(list, ", ")
end

for _, kind in ipairs { "functions", "tables", "values" } do
  testing.case(kind .. " of gb are documented", function()
    testing.equal(missing(registered[kind], doc[kind]), "")
  end)
  testing.case("documented " .. kind .. " of gb exist", function()
    testing.equal(missing(doc[kind], registered[kind]), "")
  end)
end

local function set_of(...)
  local set = {}
  for _, list in ipairs { ... } do
    for _, name in ipairs(list) do set[name] = true end
  end
  return set
end

-- The members of a class and of the class that it extends.
local function inherited(class, kind)
  local base = class.base and doc.classes[class.base]
  return base and set_of(names_of(class[kind]), names_of(base[kind])) or class[kind]
end

-- Operators that the annotation language has a word for.
local operators = {
  __add = "add", __sub = "sub", __mul = "mul", __div = "div", __mod = "mod", __pow = "pow", __idiv = "idiv",
  __unm = "unm", __len = "len", __concat = "concat", __call = "call",
}

local function operators_of(metatable)
  local set = {}
  for _, event in ipairs(metatable) do
    if operators[event] then set[operators[event]] = true end
  end
  return set
end

local classes = native.classes()
-- What only the Lua library handles, through gb._native.
for _, internal in ipairs { "PointCall", "Run" } do classes[internal] = nil end

for _, name in ipairs(names_of(classes)) do
  testing.case("class " .. name .. " is documented as it is", function()
    local class, described = classes[name], doc.classes[name]
    testing.is_true(described, "a ---@class " .. name .. " in lua/meta")
    local methods, fields = set_of(class.methods), set_of(class.getters, class.setters)
    testing.equal(missing(methods, inherited(described, "methods")), "")
    testing.equal(missing(described.methods, methods), "")
    testing.equal(missing(fields, described.fields), "")
    testing.equal(missing(described.fields, fields), "")
    testing.equal(missing(operators_of(class.metatable), inherited(described, "operators")), "")
    testing.equal(missing(described.operators, operators_of(class.metatable)), "")
  end)
end

-- Two tables of options with one name would be read as one.
testing.case("each class of options is declared once", function()
  local declared, twice = {}, {}
  for _, path in ipairs(native.system.scripts_in(native.system.resource "lua/meta")) do
    for line in io.lines(path) do
      local name = line:match "^%-%-%-@class ([%w_]+Options)"
      if declared[name] then twice[#twice + 1] = name end
      if name then declared[name] = true end
    end
  end
  testing.equal(twice, {})
  testing.is_true(declared.FitOptions)
end)

testing.case("documented classes with members exist", function()
  for _, name in ipairs(names_of(doc.classes)) do
    local class = doc.classes[name]
    if class.is_object then testing.is_true(classes[name], "class " .. name) end
  end
  testing.note()
end)
