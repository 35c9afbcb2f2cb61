-- The reference says what a user looks up: a sentence for every function, a text for every field, the default of every
-- option, and the defaults are those of the code.
local gb = require "gpubench"
local documented = require "gpubench.reference.documented"
local prose = require "gpubench.reference.prose"
local testing = require "testing"

local native = gb._native
local doc = documented.read(native.system.scripts_in(native.system.resource "lua/meta"))

local entries = {}
table.move(doc.functions, 1, #doc.functions, 1, entries)
for _, name in ipairs(doc.order) do
  local methods = doc.classes[name].methods
  table.move(methods, 1, #methods, #entries + 1, entries)
end

testing.case("every function and method has a sentence", function()
  local without = {}
  for _, entry in ipairs(entries) do
    if #prose.first_sentence(entry.text) < 8 then without[#without + 1] = entry.where .. " " .. entry.name end
  end
  testing.equal(without, {})
  testing.is_true(#entries > 350)
end)

-- The ends of intervals are explained by their column.
local function is_end_of_interval(class, field)
  return class == "Row" and field.name:find "_low" or class == "Row" and field.name:find "_high"
end

testing.case("every field says what it is", function()
  local without, count = {}, 0
  for _, name in ipairs(doc.order) do
    for _, field in ipairs(doc.classes[name].fields) do
      count = count + 1
      if field.text == "" and not is_end_of_interval(name, field) then
        without[#without + 1] = name .. "." .. field.name
      end
    end
  end
  testing.equal(without, {})
  testing.is_true(count > 600)
end)

-- How a text says what holds where an option is not given.
local ways = { "unless given", "unless false", "when absent", "absent:", "when left out", "required here",
  "%([^()]+%)%s*$", "%(true[,;)]", "%(false[,;:)]", "the same as", "otherwise", "without", "default", "%(%d", '%("' }

local function says_default(text)
  for _, way in ipairs(ways) do
    if text:find(way) then return true end
  end
  return false
end

-- The classes of options that functions take, and those functions.
local takers = {}
for _, entry in ipairs(entries) do
  for _, param in ipairs(entry.params) do
    for _, class in ipairs(documented.options_of(doc, param)) do
      takers[class.name] = takers[class.name] or {}
      table.insert(takers[class.name], entry)
    end
  end
end

testing.case("every option says its default", function()
  local without, count = {}, 0
  for name in pairs(takers) do
    for _, field in ipairs(documented.fields_of(doc, name)) do
      -- "Rank" is a result that is given back; of a callback's functions those that are not given are not called.
      if field.optional and name ~= "Rank" and name ~= "CallbackFunctions" then
        count = count + 1
        if not says_default(field.text) then
          without[#without + 1] = name .. "." .. field.name .. ": " .. field.text
        end
      end
    end
  end
  table.sort(without)
  testing.equal(without, {})
  testing.is_true(count > 400)
end)

-- What native functions declare. Losses, metrics and optimizers have core's names: "gb.losses.mean_squared_error".
local declared = native.reference.options()
declared["gb.layers.custom"], declared["gb.layers.Lambda"] = nil, nil  -- core has their functions in one option

local function core_name(name)
  local module, class = name:match "^gb%.(%w+)%.(%u%w*)$"
  if module ~= "losses" and module ~= "metrics" and module ~= "optimizers" then return name end
  for core in pairs(declared) do
    local of_module, own = core:match "^gb%.(%w+)%.([%w_]+)$"
    if of_module == module and own:gsub("_", "") == class:lower() then return core end
  end
  return name
end

local function options_of(entry)
  local fields, is_open = {}, false
  for _, param in ipairs(entry.params) do
    for _, class in ipairs(documented.options_of(doc, param)) do
      for _, field in ipairs(documented.fields_of(doc, class.name)) do
        fields[field.name] = field
        is_open = is_open or field.name == "[]"
      end
    end
  end
  return fields, is_open
end

-- What a table in core leaves to all layers, or to all losses.
local common = { name = true, input_shape = true, trainable = true, dtype = true, reduction = true,
  quantization = true, seed = true }

local function is_param(entry, name)
  for _, param in ipairs(entry.params) do
    if param.name == name then return true end
  end
  return false
end

-- What one of both has and the other has not.
local function differences(entry, options, fields, list)
  for option in pairs(options) do
    if not fields[option] and not is_param(entry, option) then list[#list + 1] = entry.name .. " takes " .. option end
  end
  for field in pairs(fields) do
    local is_common = common[field] or field:find "_regularizer$" or field:find "_constraint$"
    if not options[field] and field ~= "[]" and not is_common then
      list[#list + 1] = entry.name .. " does not take " .. field
    end
  end
end

-- Compares more than `least` entries with what known(entry) says that they take, where it knows it.
local function compare_options(known, least)
  local wrong, count = {}, 0
  for _, entry in ipairs(entries) do
    local fields = options_of(entry)
    local options = next(fields) and known(entry)
    if options then
      count = count + 1
      differences(entry, options, fields, wrong)
    end
  end
  table.sort(wrong)
  testing.equal(wrong, {})
  testing.is_true(count > least)
end

testing.case("options are those that native functions take", function()
  compare_options(function(entry) return declared[core_name(entry.name)] end, 100)
end)

-- Functions of the Lua library name the options that they know when one is misspelt.
local arguments_before = { ["gb.axis"] = { "x", { 1 } }, ["gb.column"] = { "x" } }

-- What a function of the Lua library says of these options; nil where it takes them.
local function refusal_of(entry, options)
  local f = gb
  for name in entry.name:gsub("^gb%.", ""):gmatch "[^.]+" do f = f[name] end
  local arguments = table.pack(table.unpack(arguments_before[entry.name] or {}))
  arguments[arguments.n + 1] = options
  local ok, reason = pcall(f, table.unpack(arguments))
  return not ok and tostring(reason) or nil
end

local function known_options(entry)
  local reason = refusal_of(entry, { misspelt_option = 1 })
  local known = reason and reason:match "unknown option 'misspelt_option' %(known: ([^)]*)%)"
  if not known then return nil end
  local options = {}
  for name in known:gmatch "[%w_]+" do options[name] = true end
  return options
end

testing.case("options are those that functions of the Lua library take", function()
  compare_options(function(entry)
    local is_lua = entry.name:find "^gb%.[cez]" and not entry.name:find "^gb%.config"  -- chart, expect, zoo, ...
    return is_lua and known_options(entry)
  end, 20)
end)

-- The kind of number that a function of the Lua library expects of an option; nil where it names none.
local function expected_number(entry, option)
  local reason = refusal_of(entry, { [option] = true })
  return reason and reason:match("option '" .. option .. "': (%l+) expected, got boolean")
end

testing.case("options are the numbers that functions of the Lua library take", function()
  local wrong, count = {}, 0
  for _, entry in ipairs(entries) do
    for name, field in pairs(entry.name:find "^gb%.[cez]" and options_of(entry) or {}) do
      local kind = field.type:match "^(number)%??$" or field.type:match "^(integer)%??$"
      local expected = kind and expected_number(entry, name)
      count = count + (expected and 1 or 0)
      if expected and expected ~= kind then
        wrong[#wrong + 1] = string.format("%s %s: the reference says %s, the code %s", entry.name, name, kind,
          expected)
      end
    end
  end
  table.sort(wrong)
  testing.equal(wrong, {})
  testing.is_true(count > 20)
end)

-- The default that a text states: a number, a text or a flag before "unless given", or in brackets at the end.
local function stated_default(text)
  local word = text:match "^([^;,:]-) unless given" or text:match "[;:] ([^;:]-) unless given"
    or text:match "%(([^()]+)%)$"
  if not word then return nil end
  word = word:match "^%s*(.-)%s*$"
  if word == "true" or word == "false" then return word == "true" end
  local power = word:match "^2^(%d+)$"
  if power then return 2.0 ^ tonumber(power) end
  return tonumber(word) or word:match '^"([^"]*)"$'
end

local function is_equal(stated, default)
  if type(stated) == "number" and type(default) == "number" then return math.abs(stated - default) <= 1e-9 end
  return stated == default
end

testing.case("stated defaults are those of the code", function()
  local wrong, count = {}, 0
  for _, entry in ipairs(entries) do
    local options, fields = declared[core_name(entry.name)] or {}, options_of(entry)
    for name, option in pairs(options) do
      local stated = fields[name] and stated_default(fields[name].text)
      if stated ~= nil and option.default ~= nil then
        count = count + 1
        if not is_equal(stated, option.default) then
          wrong[#wrong + 1] = string.format("%s %s: the text says %s, the code %s", entry.name, name, tostring(stated),
            tostring(option.default))
        end
      end
    end
  end
  table.sort(wrong)
  testing.equal(wrong, {})
  testing.is_true(count > 150)
  testing.equal(stated_default "share; 0.9 unless given: as usual", 0.9)
  testing.equal(stated_default "whether it is (true)", true)
  testing.equal(stated_default 'how; "valid" unless given, or "same"', "valid")
end)
