-- What the line of a terminal says of a sweep: how much time is left, and which point is measured. The program draws it
-- (core/report/text/progress_line.h); logs stay clean.
local native = require("gpubench.native")._native

local Progress = {}
Progress.__index = Progress

local terminal = { seconds = native.system.seconds, show = native.progress.show, hide = native.progress.hide }

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

-- How many times longer than expected the finished tasks took.
function Progress:factor()
  return self.expected_s > 0 and self.taken_s / self.expected_s or 1
end

-- Seconds that the remaining tasks take if their expectation is as wrong as that of the finished ones.
function Progress:left()
  return math.max(self.left_s, 0) * self:factor()
end

-- A call begins that does a share of a task (1 if absent); round: "round 2/9", if it is one.
function Progress:show(text, task, share, round)
  task = task or self.done + 1
  local count = string.format("%d/%d", task, #self.seconds)
  self.screen.show {
    left_s = self:left(),
    call_s = (self.seconds[task] or 0) * (share or 1) * self:factor(),
    count = round and count .. ", " .. round or count,
    text = text,
  }
end

-- So that other lines can be printed.
function Progress:clear()
  self.screen.hide()
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
