local row_printer = require "gpubench.sweep.row_printer"
local testing = require "testing"

-- Texts of points; the second has two rows.
local names = { "one", "two, two too", "three", "four", "five" }

-- A run whose rows are such texts, and a screen of the test's own.
local function printer_on(screen, style)
  local run = {}
  function run:opening() return "opening\n" end
  function run:point_text(point, width) return string.format("%s at %d\n", names[point], width) end
  function run:closing() return "closing\n" end
  screen.shown = {}
  function screen.write(text) screen.shown[#screen.shown + 1] = text:sub(1, -2) end
  screen.takes_output = screen.takes_output or function() return true end
  screen.width = screen.width or function() return 80 end
  return row_printer.new(run, style or { width = 80 }, screen)
end

testing.case("a row is printed once all points in front of it are", function()
  local screen = {}
  local printer = printer_on(screen)
  printer:take(1)
  printer:take(4)
  printer:print_ready()
  testing.equal(screen.shown, { "opening", "one at 80" })
  printer:take(3)
  printer:print_ready()
  testing.equal(#screen.shown, 2)
  printer:take(2)
  printer:print_ready()
  testing.equal(screen.shown, { "opening", "one at 80", "two, two too at 80", "three at 80", "four at 80" })
  printer:finish()
  testing.equal(screen.shown[6], "closing")
end)

testing.case("at the end all rows are printed, in the order of the sweep", function()
  local screen = {}
  local printer = printer_on(screen)
  printer:take(5)
  printer:take(3)
  printer:finish()
  testing.equal(screen.shown, { "opening", "three at 80", "five at 80", "closing" })
end)

testing.case("a reader that takes nothing gets its rows later", function()
  local ready = false
  local screen = { takes_output = function() return ready end }
  local printer = printer_on(screen)
  printer:take(1)
  printer:print_ready()
  testing.equal(screen.shown, { "opening" })
  ready = true
  printer:take(2)
  printer:print_ready()
  testing.equal(screen.shown, { "opening", "one at 80", "two, two too at 80" })
end)

testing.case("the width is that of the window when the row comes, and any without a window", function()
  local columns = 60
  local screen = { width = function() return columns end }
  local printer = printer_on(screen)
  printer:take(1)
  printer:print_ready()
  columns = 40
  printer:take(2)
  printer:print_ready()
  testing.equal(screen.shown, { "opening", "one at 60", "two, two too at 40" })
  printer = printer_on(screen, { width = 0 })
  printer:take(1)
  printer:print_ready()
  testing.equal(screen.shown, { "opening", "one at 0" })
end)
