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
    shares = {},     -- of tasks that are begun: what is left of each
    left_s = left,   -- expected of what is left
    expected_s = 0,  -- of what was done of tasks that were not skipped: expected and taken
    taken_s = 0,
    began = screen.seconds(),
  }, Progress)
end

-- Seconds that the remaining tasks take if their expectation is as wrong as that of the finished ones.
function Progress:left()
  return math.max(self.left_s, 0) * (self.expected_s > 0 and self.taken_s / self.expected_s or 1)
end

-- task: the one that is shown; the first that is not done if absent.
function Progress:show(text, task)
  local width = self.screen.width()
  if not width then return end
  local head = string.format("[%d/%d] %s left", task or self.done + 1, #self.seconds, gb.format.seconds(self:left()))
  local room = width - 1 - utf8.len(head) - 2
  local shorten = native.results.shorten_middle
  self.screen.write("\r\27[K" .. (room > 0 and head .. "  " .. shorten(text, room) or shorten(head, width - 1)))
end

function Progress:clear()
  if self.screen.width() then self.screen.write "\r\27[K" end
end

-- Takes a share of the task off what is left; returns how long that was expected to take.
function Progress:take_off(task, share)
  local left = self.shares[task] or 1
  share = math.min(share, left)
  self.shares[task] = left - share
  self.left_s = self.left_s - self.seconds[task] * share
  return self.seconds[task] * share
end

-- A share of a task is done, all of the first that is not done if absent.
function Progress:advance(task, share)
  local now = self.screen.seconds()
  local expected = self:take_off(task or self.done + 1, share or 1)
  if expected > 0 then self.expected_s, self.taken_s = self.expected_s + expected, self.taken_s + now - self.began end
  self.began = now
  if not task then self.done = self.done + 1 end
end

-- Nothing is left of a task, however much of it was done.
function Progress:finish(task)
  self:take_off(task, 1)
  self.shares[task] = 0
  self.done = self.done + 1
end

return { new = new }
