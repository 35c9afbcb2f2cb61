local progress = require "gpubench.sweep.progress"
local testing = require "testing"

-- A terminal and a clock of the test's own.
local function screen()
  local one = { now = 100, shown = {}, hidden = 0 }
  function one.seconds() return one.now end
  function one.show(state) one.shown[#one.shown + 1] = state end
  function one.hide() one.hidden = one.hidden + 1 end
  return one
end

-- "1/3 of 10 s, 4 s of them by the call"
local function shown(line, on, ...)
  line:show("n=1", ...)
  local state = on.shown[#on.shown]
  testing.equal(state.text, "n=1")
  return string.format("%s of %g s, %g s of them by the call", state.count, state.left_s, state.call_s)
end

testing.case("what is left is as expected, until tasks have shown how wrong that is", function()
  local on = screen()
  local line = progress.new({ 2, 4, 4 }, on)
  testing.equal(shown(line, on), "1/3 of 10 s, 2 s of them by the call")
  on.now = 101
  line:advance()
  testing.equal(shown(line, on), "2/3 of 4 s, 2 s of them by the call")
  on.now = 106
  line:advance()
  testing.equal(shown(line, on), "3/3 of 4 s, 4 s of them by the call")
  on.now = 110
  line:advance()
  testing.near(line:left(), 0, 0)
end)

testing.case("skipped tasks take no time, and tell nothing of the others", function()
  local on = screen()
  local line = progress.new({ 0, 0, 3, 0, 3 }, on)
  testing.equal(shown(line, on), "1/5 of 6 s, 0 s of them by the call")
  for _ = 1, 2 do
    on.now = on.now + 0.01
    line:advance()
  end
  testing.equal(shown(line, on), "3/5 of 6 s, 3 s of them by the call")
  on.now = on.now + 30
  line:advance()
  testing.equal(shown(line, on), "4/5 of 30 s, 0 s of them by the call")
end)

testing.case("tasks that take turns are done by shares", function()
  local on = screen()
  local line = progress.new({ 4, 4, 4 }, on)
  for _, task in ipairs { 1, 2, 2, 1 } do
    on.now = on.now + 2
    line:advance(task, 0.25)
  end
  testing.equal(shown(line, on, 2, 0.25, "round 3/4"), "2/3, round 3/4 of 16 s, 2 s of them by the call")
  line:finish(1)
  line:finish(2)
  testing.equal(shown(line, on), "3/3 of 8 s, 8 s of them by the call")
end)

testing.case("nothing left is no negative time, whatever the rounding", function()
  local on = screen()
  local line = progress.new({ 0.1, 0.2, 0.3 }, on)
  for _ = 1, 3 do
    on.now = on.now + 1
    line:advance()
  end
  testing.is_true(line:left() >= 0 and line:left() < 1e-9, "left")
  local empty = progress.new({ 0, 0 }, on)
  testing.equal(shown(empty, on), "1/2 of 0 s, 0 s of them by the call")
end)

testing.case("the line is removed before other lines", function()
  local on = screen()
  local line = progress.new({ 1 }, on)
  line:show "n=1"
  line:clear()
  testing.equal(on.hidden, 1)
end)
