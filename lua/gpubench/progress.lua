-- The line that says where a sweep stands. Written only when stderr is a terminal, so logs stay clean.
local gb = require "gpubench.native"
local system = gb._native.system
local stderr = io.stderr

local Progress = {}
Progress.__index = Progress

-- planned: seconds that a point is expected to take.
local function new(total, planned)
  return setmetatable({ total = total, planned = planned, done = 0, started = system.seconds() }, Progress)
end

-- Seconds that the remaining points take if they take as long as those before, or as planned while there are none.
function Progress:left()
  local each = self.done == 0 and self.planned or (system.seconds() - self.started) / self.done
  return each * (self.total - self.done)
end

function Progress:show(text)
  local width = system.progress_width()
  if not width then return end
  local line = string.format("[%d/%d] %s  %s left", self.done + 1, self.total, text, gb.format.seconds(self:left()))
  stderr:write("\r\27[K", line:sub(1, width - 1))
  stderr:flush()
end

function Progress:clear()
  if not system.progress_width() then return end
  stderr:write("\r\27[K")
  stderr:flush()
end

function Progress:advance()
  self.done = self.done + 1
end

return { new = new }
