-- Prints the rows of a run while it goes on, in the order of the sweep: a row appears once it is final and those of all
-- points in front of it are printed. Points that claims compare are final after their last round.
local native = require("gpubench.native")._native
-- That of the program, whatever a script does to its globals.
local stdout = io.stdout

local Printer = {}
Printer.__index = Printer

local terminal = { takes_output = native.system.takes_output, width = native.system.output_width }
function terminal.write(text)
  stdout:write(text)
  stdout:flush()
end

-- run: as made by results.new_run; style: { width, color, all_columns }; screen: in place of the terminal.
local function new(run, style, screen)
  local printer = setmetatable({ run = run, style = style, screen = screen or terminal, waiting = {},
    next = 1 }, Printer)
  printer.screen.write(run:opening(style))
  return printer
end

-- A point is final.
function Printer:take(point)
  self.waiting[point] = true
end

function Printer:print(point)
  self.waiting[point] = nil
  -- 0: lines of any width, whatever the window is.
  local text = self.run:point_text(point, self.style.width > 0 and self.screen.width() or 0)
  if text ~= "" then self.screen.write(text) end
end

-- Whether there is something to print now. A reader that takes no output, such as a pager, must not stop the sweep.
function Printer:is_ready()
  return self.waiting[self.next] and self.screen.takes_output()
end

function Printer:print_ready()
  while self:is_ready() do
    self:print(self.next)
    self.next = self.next + 1
  end
end

-- At the end of the sweep: also rows behind points that were not measured, and what stands below the rows.
function Printer:finish()
  local left = {}
  for point in pairs(self.waiting) do left[#left + 1] = point end
  table.sort(left)
  for _, point in ipairs(left) do self:print(point) end
  self.screen.write(self.run:closing(self.style))
end

return { new = new }
