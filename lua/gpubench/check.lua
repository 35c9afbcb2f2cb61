-- Checks of arguments. A failure is an error at the caller's line in the user's script, worded as in native functions.
local native = require("gpubench.native")._native

local check = {}

function check.fail(...)
  native.fail(string.format(...))
end

function check.sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = tostring(key) end
  table.sort(keys)
  return keys
end

local function is_array(value)
  if type(value) ~= "table" then return false end
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  return count == #value
end

local function fits(value, wanted)
  if wanted == "any" then return true end
  if wanted == "array" then return is_array(value) end
  if wanted == "integer" then return math.type(value) == "integer" end
  return type(value) == wanted
end

-- The kinds are separated by "|": "string|array".
function check.kind(where, value, kinds)
  for wanted in kinds:gmatch "[^|]+" do
    if fits(value, wanted) then return value end
  end
  local is_no_integer = type(value) == "number" and kinds:find "integer" and not kinds:find "number"
  local given = value == nil and "no value" or is_no_integer and tostring(value) or type(value)
  check.fail("%s: %s expected, got %s", where, kinds:gsub("|", " or "), given)
end

-- A number from `least` to `most`.
function check.within(where, value, least, most)
  if not (value >= least and value <= most) then
    check.fail("%s: from %s to %s is expected, got %s", where, least, most, value)
  end
end

-- fields: { { name, kinds, required = "what it is" }, ... }, in the order of the message that lists them; `required`
-- may be true where the name says it. `place`: where core/base/other_names has options of other libraries; nil where
-- these mean something else.
function check.options(where, options, fields, place)
  check.kind(where, options, "table")
  local names, known = {}, {}
  for _, field in ipairs(fields) do
    names[#names + 1] = field[1]
    known[field[1]] = true
  end
  for _, key in ipairs(check.sorted_keys(options)) do
    if not known[key] then
      check.fail("%s: unknown option '%s'%s", where, key, native.results.known_names(key, names, place))
    end
  end
  for _, field in ipairs(fields) do
    local name, value = field[1], options[field[1]]
    if value ~= nil then
      check.kind(string.format("%s: option '%s'", where, name), value, field[2])
    elseif field.required then
      check.fail("%s: option '%s' is required%s", where, name, field.required == true and "" or ": " .. field.required)
    end
  end
  return options
end

return check
