-- Editors understand lua/meta: its annotations follow their language, name only types that exist, and give each
-- function and table of gb to a class.
local gb = require "gpubench"
local annotations = require "gpubench.reference.annotations"
local testing = require "testing"

local native = gb._native
local blocks = {}
for _, path in ipairs(native.system.scripts_in(native.system.resource "lua/meta")) do
  for _, block in ipairs(annotations.read(path)) do blocks[#blocks + 1] = block end
end

local function faults(check)
  local found = {}
  for _, block in ipairs(blocks) do
    check(block, function(text) found[#found + 1] = block.where .. ": " .. text end)
  end
  return table.concat(found, "\n")
end

testing.case("an annotation that is not well-formed is refused", function()
  local wrong = {
    ["param"] = "a name expected", ["param x"] = "a type expected", ["return { a: }"] = "a type expected",
    ["field x table<string, number"] = "a closing bracket expected",
    ["class A what it is"] = "the end of the line expected",
    ["fild x number"] = "unknown tag '@fild'", ["return fun(x: number"] = "a closing bracket expected",
    ["operator add(A)"] = "':' expected", ["param x string|"] = "a type expected",
    ["field [integer string"] = "a closing",
  }
  for text, reason in pairs(wrong) do
    local ok, message = pcall(annotations.parse, text)
    testing.is_true(not ok, text)
    testing.contains(message, reason)
  end
end)

testing.case("types are read to their end", function()
  local function types(text) return table.concat(annotations.parse(text).types, " ") end
  testing.equal(types "return A|B[]? which one of C", "A B")
  testing.equal(types "param f (fun(self: A, ...: B): C, D?)? E", "A B C D")
  testing.equal(types 'field mode "on"|"off"|nil of A', "nil")
  testing.equal(types "field [string] { a: A, b?: B[] }|table<string, (C|D)[]> E", "string A B table string C D")
  testing.equal(types "class A: B, C", "B C")
  testing.equal(types "operator add(A|number): B", "A number B")
end)

local declared, modules = {}, {}  -- classes and aliases; names behind ---@meta
for _, block in ipairs(blocks) do
  for _, one in ipairs(block) do
    if one.tag == "class" or one.tag == "alias" then declared[one.name] = true end
    if one.tag == "meta" then modules[#modules + 1] = one.name end
  end
end

testing.case("types that are named exist", function()
  local known = {}
  for name in ("any nil boolean string number integer function table true false"):gmatch "%a+" do known[name] = true end
  testing.equal(faults(function(block, fault)
    local generic = {}
    for _, one in ipairs(block) do
      if one.tag == "generic" then generic[one.name] = true end
      for _, name in ipairs(one.types) do
        if not known[name] and not declared[name] and not generic[name] then fault("unknown type '" .. name .. "'") end
      end
    end
  end), "")
end)

testing.case("parameters are annotated in their order", function()
  testing.equal(faults(function(block, fault)
    local list = block.code and block.code:match "^function [%w_.:]+%((.*)%)"
    if not list then return end
    local names = {}
    for _, one in ipairs(block) do
      if one.tag == "param" then names[#names + 1] = one.name end
    end
    if table.concat(names, ", ") ~= list then
      fault(string.format("annotated are (%s), the function takes (%s)", table.concat(names, ", "), list))
    end
  end), "")
end)

testing.case("every function and table of gb belongs to a class", function()
  testing.equal(modules, { "gpubench" })  -- what require "gpubench" gives
  testing.equal(faults(function(block, fault)
    local code = block.code or ""
    local table_of_gb, class = code:match "^function gb%.([%w_.]+)%.[%w_]+%(", code:match "^function ([%w_]+):"
    local owner = table_of_gb and "gpubench." .. table_of_gb or class or "gpubench"
    if not declared[owner] then fault("no class " .. owner) end
  end), "")
  for name, value in pairs(gb) do
    if type(value) == "table" and not name:find "^_" then
      testing.is_true(declared["gpubench." .. name], "a class gpubench." .. name)
    end
  end
end)
