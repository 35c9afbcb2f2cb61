local progress = require "gpubench.progress"
local testing = require "testing"

-- A terminal and a clock of the test's own.
local function screen(width)
  local one = { now = 100, columns = width, shown = {} }
  function one.seconds() return one.now end
  function one.width() return one.columns end
  function one.write(text) one.shown[#one.shown + 1] = text end
  return one
end

local function shown(line, on, text)
  line:show(text or "n=1")
  return (on.shown[#on.shown]:gsub("^\r\27%[K", ""))
end

testing.case("what is left is as expected, until tasks have shown how wrong that is", function()
  local on = screen(80)
  local line = progress.new({ 2, 4, 4 }, on)
  testing.equal(shown(line, on), "[1/3] 10 s left  n=1")
  on.now = 101
  line:advance()
  testing.equal(shown(line, on), "[2/3] 4 s left  n=1")
  on.now = 106
  line:advance()
  testing.equal(shown(line, on), "[3/3] 4 s left  n=1")
  on.now = 110
  line:advance()
  testing.near(line:left(), 0, 0)
end)

testing.case("skipped tasks take no time, and tell nothing of the others", function()
  local on = screen(80)
  local line = progress.new({ 0, 0, 3, 0, 3 }, on)
  testing.equal(shown(line, on), "[1/5] 6 s left  n=1")
  for _ = 1, 2 do
    on.now = on.now + 0.01
    line:advance()
  end
  testing.equal(shown(line, on), "[3/5] 6 s left  n=1")
  on.now = on.now + 30
  line:advance()
  testing.equal(shown(line, on), "[4/5] 30 s left  n=1")
end)

testing.case("tasks that take turns are done by shares", function()
  local on = screen(80)
  local line = progress.new({ 4, 4, 4 }, on)
  for _, task in ipairs { 1, 2, 2, 1 } do
    on.now = on.now + 2
    line:advance(task, 0.25)
  end
  line:show("n=1", 2)
  testing.equal((on.shown[#on.shown]:gsub("^\r\27%[K", "")), "[2/3] 16 s left  n=1")
  line:finish(1)
  line:finish(2)
  testing.equal(shown(line, on), "[3/3] 8 s left  n=1")
end)

testing.case("nothing left is no negative time, whatever the rounding", function()
  local on = screen(80)
  local line = progress.new({ 0.1, 0.2, 0.3 }, on)
  for _ = 1, 3 do
    on.now = on.now + 1
    line:advance()
  end
  testing.is_true(line:left() >= 0 and line:left() < 1e-9, "left")
  local empty = progress.new({ 0, 0 }, on)
  testing.equal(shown(empty, on), "[1/2] 0 s left  n=1")
end)

testing.case("the line fits the window: what is left stays, the text loses its middle, by whole characters", function()
  local on = screen(40)
  local line = progress.new({ 0.000012, 0.000012 }, on)
  local text = "device=cpu:0 größe=äöüäöüäöüäöü workers=16"
  testing.equal(shown(line, on, text), "[1/2] 24 µs left  device=cpu…workers=16")
  testing.equal(utf8.len(shown(line, on, text)), 39)
  on.columns = 23
  testing.equal(shown(line, on, text), "[1/2] 24 µs left  de…6")
  on.columns = 12
  testing.equal(shown(line, on, text), "[1/2]… left")
  on.columns = 1
  testing.equal(shown(line, on, text), "")
end)

testing.case("nothing is written where there is no terminal", function()
  local on = screen(nil)
  local line = progress.new({ 1 }, on)
  line:show "n=1"
  line:clear()
  line:advance()
  testing.equal(on.shown, {})
  on.columns = 80
  line:clear()
  testing.equal(on.shown, { "\r\27[K" })
end)
