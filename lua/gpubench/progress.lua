-- The line that says where a sweep stands. Written only when stderr is a terminal, so logs stay clean.
local gb = require "gpubench.native"
local system = gb._native.system

local Progress = {}
Progress.__index = Progress

local function new(total)
  return setmetatable({ total = total, done = 0, started = system.seconds() }, Progress)
end

-- Seconds that the remaining points take if they take as long as those before; nil before the first is done.
function Progress:left()
  if self.done == 0 then return nil end
  return (system.seconds() - self.started) / self.done * (self.total - self.done)
end

function Progress:show(text)
  local width = system.progress_width()
  if not width then return end
  local left = self:left()
  local line = string.format("[%d/%d] %s%s", self.done + 1, self.total, text,
    left and "  " .. gb.format.seconds(left) .. " left" or "")
  io.stderr:write("\r\27[K", line:sub(1, width - 1))
  io.stderr:flush()
end

function Progress:clear()
  if not system.progress_width() then return end
  io.stderr:write("\r\27[K")
  io.stderr:flush()
end

function Progress:advance()
  self.done = self.done + 1
end

return { new = new }
