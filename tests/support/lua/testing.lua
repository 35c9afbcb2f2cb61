-- The little that test scripts need: named cases that must check something, and checks that say what differs. A failing
-- case ends the script with an error, so the program's exit status tells CTest.
local testing = {}

local checks = 0

local function fail(...)
  error(string.format(...), 3)
end

local function show(value)
  if type(value) ~= "table" then return type(value) == "string" and string.format("%q", value) or tostring(value) end
  local parts, seen = {}, {}
  for index, item in ipairs(value) do
    parts[index], seen[index] = show(item), true
  end
  local names = {}
  for key in pairs(value) do
    if not seen[key] then names[#names + 1] = tostring(key) end
  end
  table.sort(names)
  for _, name in ipairs(names) do parts[#parts + 1] = name .. " = " .. show(value[name]) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end
testing.show = show

-- A command of the Lua library, which no script can require.
function testing.command(name)
  local path = require "gpubench"._native.system.resource("lua/gpubench/commands/" .. name .. ".lua")
  return assert(loadfile(path))()
end

function testing.case(name, body)
  local before = checks
  local ok, reason = xpcall(body, function(message) return tostring(message) end)
  if not ok then error(name .. ": " .. reason, 0) end
  if checks == before then error(name .. ": checks nothing", 0) end
  print("ok  " .. name)
end

function testing.is_true(value, what)
  checks = checks + 1
  if not value then fail("%s: expected something true, got %s", what or "check", show(value)) end
end

-- Deep, by value.
function testing.equal(actual, expected)
  checks = checks + 1
  if show(actual) ~= show(expected) then fail("expected %s, got %s", show(expected), show(actual)) end
end

function testing.near(actual, expected, tolerance)
  checks = checks + 1
  if math.abs(actual - expected) > tolerance then
    fail("expected %.9g within %g, got %.9g", expected, tolerance, actual)
  end
end

-- `text` is plain text, not a pattern.
function testing.contains(actual, text)
  checks = checks + 1
  if not tostring(actual):find(text, 1, true) then fail("expected text with %q, got %s", text, show(actual)) end
end

-- The call must fail with a message that has `text` in it.
function testing.raises(text, body, ...)
  checks = checks + 1
  local ok, reason = pcall(body, ...)
  if ok then fail("expected an error with %q, but there was none", text) end
  if not tostring(reason):find(text, 1, true) then fail("expected an error with %q, got %q", text, tostring(reason)) end
end

-- What messages of the program never hold: texts of libraries, of the standard library and of Lua's own checks.
local raw = { "vector::", "basic_", "std::", "bad_alloc", "json.exception", "filesystem error", "[json", "bad argument",
  "attempt to perform", "attempt to index", "attempt to compare", "attempt to add", "attempt to call",
    "table index is" }

-- The call must fail, with a message of the program's own.
function testing.refuses(body, ...)
  checks = checks + 1
  local ok, reason = pcall(body, ...)
  if ok then fail "expected an error, but there was none" end
  for _, text in ipairs(raw) do
    if tostring(reason):find(text, 1, true) then
      fail("expected a message of the program's own, got %q", tostring(reason))
    end
  end
  return tostring(reason)
end

-- Counts a check that was made elsewhere.
function testing.note()
  checks = checks + 1
end

return testing
