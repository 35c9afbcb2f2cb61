-- Values and titles are read from a source that is never run.
local literals = require "gpubench.literals"
local testing = require "testing"

testing.case("texts are what Lua makes of them", function()
  for _, written in ipairs {
    [["a"]], [['a']], [[""]], [["\a\b\f\n\r\t\v\\\"\'"]], [['"']],
    [["\x41\65\065\u{41}\u{20AC}\u{7FFFFFFF}\u{000000041}"]],
    '"a\\\nb"', '"a\\\r\nb"', '"a\\z  \n\t b"', "[[a\nb]]", "[[\na]]", "[[\r\na\r\nb\rc]]", "[==[a]]]=]b]==]",
    '"\\0001"', '"\\255"',
    '"a\0b"', '"\27[31m"', '"-- no comment"', "[[]]",
  } do
    testing.equal(literals.text_of(written), assert(load("return " .. written))())
  end
end)

testing.case("texts that Lua refuses are none", function()
  for _, written in ipairs {
    '"a', '"', "'a\"", '"\\q"', '"\\x4"', '"\\xgg"', '"\\256"', '"\\u{110000000}"', '"\\u{}"', '"\\u41"', '"\\"', "[[a",
    "[=[a]]", "a", "",
  } do
    testing.is_true(not load("return " .. written) or written == "a" or written == "", written)
    testing.equal(literals.text_of(written), nil)
  end
end)

testing.case("random texts are what Lua makes of them", function()
  math.randomseed(7)
  local pieces = { "a", "\\", "\\n", "\\x41", "\\65", "\\z", " ", "\\u{41}", "'", '\\"', "\\\\", "0", "[", "]", "{",
    "\\\n", "\r" }
  local taken = 0
  for _ = 1, 5000 do
    local parts = {}
    for index = 1, math.random(0, 6) do parts[index] = pieces[math.random(#pieces)] end
    local written = '"' .. table.concat(parts) .. '"'
    local chunk = load("return " .. written)
    testing.equal(literals.text_of(written), chunk and chunk() or nil)
    taken = taken + (chunk and 1 or 0)
  end
  testing.is_true(taken > 1000 and taken < 5000, "both kinds")
end)

local function read(text)
  return literals.returned("s.lua", text, "it is data")
end

testing.case("values are what Lua makes of them", function()
  local text = [=[
-- A comment
return { 1, -2, 0x1F, 1e3, .5, "a" .. 'b' .. [[c]], true, false, n = 8e9; ["x y"] = { { } },
  [3.5] = "k", [true] = nil, --[[ e ]]
}]=]
  testing.equal(read(text), assert(load(text))())
  for _, value in ipairs { "7", "-7", '"a"', "true", "false", "nil", "{}", "-0x10;" } do
    testing.equal(read("return " .. value), load("return " .. value)())
  end
  testing.equal(math.type(read "return 9223372036854775807"), "integer")
end)

testing.case("anything else is an error with its line, and is not run", function()
  for text, message in pairs {
    [""] = "s.lua:1: 'return' expected, got the end of the file; it is data",
    ["os.exit(7)"] = "s.lua:1: 'return' expected, got 'os'",
    ["return os"] = "s.lua:1: a value expected, got 'os'",
    ["return setmetatable"] = "a value expected, got 'setmetatable'",
    ["return {\n\nos.exit(7) }"] = "s.lua:3: a value expected, got 'os'",
    ["return { f = function() end }"] = "a value expected, got 'function'",
    ['return ("x"):rep(9)'] = "a value expected, got '('",
    ['return { ("x"):rep(9) }'] = "a value expected, got '('",
    ['return "x":rep(9)'] = "the end of the file expected, got ':'",
    ["return 1 + 1"] = "the end of the file expected, got '+'",
    ["return 0/0"] = "the end of the file expected, got '/'",
    ["return { 1 2 }"] = "',' or '}' expected, got '2'",
    ["return {\n1,\n"] = "s.lua:3: a table is not closed",
    ["return { [nil] = 1 }"] = "a field's name cannot be nil",
    ["return { [1] 2 }"] = "'=' expected, got '2'",
    ["return - \"1\""] = "a number expected, got '\"1\"'",
    ["return 0x"] = "a number expected, got '0x'",
    ["return 'a\nb'"] = "a text that is not finished, or has an unknown escape",
    ['return "a" .. 1'] = "a text expected, got '1'",
    ["return " .. ("{"):rep(100000)] = "tables are nested more than 32 deep",
    ["return " .. ("[["):rep(1000)] = "a text that is not finished",
    ["\27Lua"] = "'return' expected",
  } do
    testing.contains(testing.refuses(function() read(text) end), message)
  end
end)

testing.case("the texts of an experiment are those that it writes down", function()
  local texts = literals.texts_of_experiment [==[
-- gb.experiment { title = "of a comment" }
local s = "gb.experiment { title = 'of a string' }"
local function other() return { title = "before" } end
gb.experiment {
  name = "n", title = "a {" .. [[ b ]] .. '}c', question = "q\n\"'",
  axes = { gb.axis("title", { 1 }) }, charts = { gb.chart.line { title = "of a chart" } },
  run = function(p) local a, title = "x", "of a body", 1 if p then return { needs = "x" } end end,
  topic = ("t"):rep(3), remedy = "a" and "b", cause = f "x", reading = "r" .. x, needs = "w", needs = "late",
}
gb.experiment { topic = "of the second" }
]==]
  testing.equal(texts, { name = "n", title = "a { b }c", question = "q\n\"'", needs = "w" })
  testing.equal(literals.texts_of_experiment 'gb.experiment({ title = "t" })', { title = "t" })
  testing.equal(literals.texts_of_experiment 'gb.experiment { title = "t"', {})
  testing.equal(literals.texts_of_experiment "print(gb.experiment)", nil)
  testing.equal(literals.texts_of_experiment "", nil)
end)

testing.case("a title is read, and never called", function()
  for _, title in ipairs {
    [["a\\"..(function() while true do end end)()--"]], [["\\" and {} or "b"]], [["a".."b"..{}]],
    [["a\\"..("x"):rep(1<<40).."b"]],
    "[[a]]..f()", '"a" ; "b"',
  } do
    local texts = literals.texts_of_experiment("gb.experiment { title = " .. title .. "\n, run = f }")
    testing.is_true(texts.title == nil or texts.title == "a", title)
  end
end)
