-- How gpubench tune finds calls in a script's text, edits them and shows the edits.
local source = require "gpubench.tune.source"
local testing = require "testing"
local tokens = require "gpubench.tokens"

local function texts(text)
  local list = {}
  for index, token in ipairs(tokens.of(text)) do list[index] = token.text end
  return list
end

local function edited(text, edits)
  return source.new("s.lua", text):changed_lines(edits)
end

testing.case("tokens: comments are none, strings are one", function()
  testing.equal(texts 'a.b -- c "\n:d"x -- y"--[[ e\n]] [[f]] [==[ ]] ]==] 0x1F 1e-5 .5', {
    "a", ".", "b", ":", "d", '"x -- y"', "[[f]]", "[==[ ]] ]==]", "0x1F", "1e-5", ".5",
  })
  testing.equal(texts "a..b...c<=d//e::f::", { "a", "..", "b", "...", "c", "<=", "d", "//", "e", "::", "f", "::" })
  testing.equal(texts [["\"" '\'' "\\" x]], { [["\""]], [['\'']], [["\\"]], "x" })
  testing.equal(texts "", {})
  testing.equal(texts "--[[ without an end", {})
end)

testing.case("tokens know their lines and their closing brackets", function()
  local list = tokens.of "f(\n{ 1, [[\n]] }\n)"
  testing.equal({ list[1].line, list[3].line, list[#list].line }, { 1, 2, 4 })
  testing.equal({ list[2].closed_by, list[3].closed_by }, { 8, 7 })
end)

testing.case("functions keep their frames, on the same lines", function()
  local text =
    tokens.keep_frames "local f = function(a, ...)\n  return g(a)\nend\nfunction t.m:n() return 1 end -- function()"
  testing.equal(text, "local f = function(a, ...) local gpubench_tune <close> = nil\n  return g(a)\nend\n"
    .. "function t.m:n() local gpubench_tune <close> = nil return 1 end -- function()")
  testing.is_true(load(text))
  testing.equal(load(tokens.keep_frames "local f = function(n) return n + 1 end return f(1)")(), 2)
end)

local chain = [[
local gb = require "gpubench"
local input = digits
  :map(function(x) return x:map(2) end)
  :map(g, { num_parallel_calls = 1, deterministic = false })
  :batch(32)
local other = digits:map(h, options)
input:map(i)
]]

testing.case("a call is found by the line on which its expression begins, and its order there", function()
  local script = source.new("s.lua", chain)
  testing.equal(#script:calls(2, "map"), 2)  -- not the one within a function
  testing.equal(#script:calls(6, "map"), 1)
  testing.equal(script:call(2, "shuffle", 1), nil)
  local call, number = script:call(2, "map", 4)
  testing.equal({ script.tokens[call].line, number }, { 4, 2 })
  testing.equal(script:argument_text(script:call(2, "batch", 1), 1), "32")
end)

testing.case("an option is added to, changed in or begun as a call's table", function()
  local script = source.new("s.lua", chain)
  testing.equal(edited(chain, script:set_field(script:call(2, "map", 2), 2, "num_parallel_calls", "gb.AUTOTUNE")), [[
s.lua:4
-  :map(g, { num_parallel_calls = 1, deterministic = false })
+  :map(g, { num_parallel_calls = gb.AUTOTUNE, deterministic = false })
]])
  local begun = script:set_field(script:call(2, "map", 1), 2, "n", "1")
  testing.contains(edited(chain, begun), "+  :map(function(x) return x:map(2) end, { n = 1 })\n")
  testing.contains(edited(chain, script:set_field(script:call(2, "map", 2), 2, "device", "d")),
    "+  :map(g, { device = d, num_parallel_calls = 1, deterministic = false })\n")
  testing.equal(script:set_field(script:call(6, "map", 1), 2, "n", "1"), nil)  -- a variable: its table is elsewhere
  local sugar = source.new("s.lua", "model:compile { loss = f }\nother:compile {}\n")
  testing.contains(edited(sugar.text, sugar:set_field(sugar:call(1, "compile", 1), 1, "a", "1")),
    "+model:compile { a = 1, loss = f }\n")
  testing.contains(edited(sugar.text, sugar:set_field(sugar:call(2, "compile", 1), 1, "a", "1")),
    "+other:compile { a = 1 }\n")
end)

testing.case("stages are appended, arguments wrapped or replaced", function()
  local script = source.new("s.lua", chain)
  local batch = script:call(2, "batch", 1)
  testing.contains(edited(chain, script:append(batch, ":prefetch(gb.AUTOTUNE)")),
    "-  :batch(32)\n+  :batch(32):prefetch(gb.AUTOTUNE)\n")
  testing.contains(edited(chain, script:replace_argument(batch, 1, "128")), "+  :batch(128)\n")
  testing.contains(edited(chain, script:wrap_argument(batch, 1, "4 * (", ")")), "+  :batch(4 * (32))\n")
  testing.equal(script:wrap_argument(batch, 2, "", ""), nil)
end)

testing.case("statements get lines of their own, or stand behind the parameters", function()
  local text = 'local gb = require("gpubench")\ngb.experiment {\n  run = function(point)\n    return 1\n  '
    .. 'end,\n}\nlocal f = function() return 2 end\n'
  local script = source.new("s.lua", text)
  testing.equal({ script:library_name() }, { "gb", 1 })
  testing.contains(edited(text, script:begin_function(3, "set()")), "s.lua:4\n+    set()\n     return 1\n")
  testing.contains(edited(text, script:begin_function(7, "set()")),
    "-local f = function() return 2 end\n+local f = function() set() return 2 end\n")
  testing.contains(edited(text, script:before_line(2, "set()")), "s.lua:2\n+set()\n gb.experiment {\n")
  testing.equal({ source.new("s.lua", "local g = require 'gpubench'"):library_name() }, { "g", 1 })
end)

testing.case("equal edits are made once", function()
  local text = "f1()\nf2()\nf3()\n"
  local script = source.new("s.lua", text)
  local edits = script:before_line(1, "-- a")
  table.move(script:append(script:call(3, "f3", 1), ":g()"), 1, 1, 2, edits)
  table.move(edits, 1, 2, 3, edits)
  testing.equal(edited(text, edits), "s.lua:1\n+-- a\n f1()\ns.lua:3\n-f3()\n+f3():g()\n")
  testing.equal(edited(text, {}), "")
end)
