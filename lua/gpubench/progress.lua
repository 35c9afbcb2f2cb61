-- The line that says where a sweep stands: "[3/24] 12 s left  batch_size=64". Written only when stderr is a terminal, so
-- logs stay clean.
local gb = require "gpubench.native"
local native = gb._native
local stderr = io.stderr

local Progress = {}
Progress.__index = Progress

local terminal = { seconds = native.system.seconds, width = native.system.progress_width }
function terminal.write(text)
  stderr:write(text)
  stderr:flush()
end

-- seconds: how long each task is expected to take, 0 for one that is skipped. screen: in place of clock and terminal.
local function new(seconds, screen)
  screen = screen or terminal
  local left = 0
  for _, one in ipairs(seconds) do left = left + one end
  return setmetatable({
    seconds = seconds,
    screen = screen,
    done = 0,
    left_s = left,   -- expected of the tasks that are left
    expected_s = 0,  -- of finished tasks that were not skipped: expected and taken
    taken_s = 0,
    began = screen.seconds(),
  }, Progress)
end

-- Seconds that the remaining tasks take if their expectation is as wrong as that of the finished ones.
function Progress:left()
  return math.max(self.left_s, 0) * (self.expected_s > 0 and self.taken_s / self.expected_s or 1)
end

function Progress:show(text)
  local width = self.screen.width()
  if not width then return end
  local head = string.format("[%d/%d] %s left", self.done + 1, #self.seconds, gb.format.seconds(self:left()))
  local room = width - 1 - utf8.len(head) - 2
  local shorten = native.results.shorten_middle
  self.screen.write("\r\27[K" .. (room > 0 and head .. "  " .. shorten(text, room) or shorten(head, width - 1)))
end

function Progress:clear()
  if self.screen.width() then self.screen.write "\r\27[K" end
end

-- The task that was shown last is done.
function Progress:advance()
  local now = self.screen.seconds()
  self.done = self.done + 1
  local expected = self.seconds[self.done]
  if expected > 0 then
    self.expected_s, self.taken_s = self.expected_s + expected, self.taken_s + now - self.began
    self.left_s = self.left_s - expected
  end
  self.began = now
end

return { new = new }
