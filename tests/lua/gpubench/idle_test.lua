local gb = require "gpubench"
local testing = require "testing"
local native = gb._native

local busy = "other programs use 43 % of the processors, the hypervisor takes 2 %"
local calm = "other programs use 1 % of the processors, the hypervisor takes 0 %"

-- What is told while the machine is as `readings` say, one for each second. Returns the text, and how long each wait
-- was.
local function told(limit_s, readings, is_about_times)
  local text, waits, now, lines = {}, {}, 0, {}
  local stderr, loaded = io.stderr, package.loaded["gpubench.sweep.idle"]
  local kept = { native.contention.wait_idle, native.system.seconds, native.progress.show, native.progress.hide,
    native.options.wait_idle_s }
  io.stderr = {
    write = function(_, ...) for _, part in ipairs { ... } do text[#text + 1] = part end end,
    flush = function() end,
  }
  package.loaded["gpubench.sweep.idle"] = nil
  native.contention.wait_idle = function(seconds)
    now = now + seconds
    waits[#waits + 1] = seconds
    local reading = readings[math.min(#waits, #readings)]
    return reading == calm, reading
  end
  native.system.seconds = function() return now end
  native.progress.show = function(state)
    lines[#lines + 1] = string.format("%g s left  %s", state.left_s, state.text)
  end
  native.progress.hide = function() lines[#lines + 1] = "" end
  native.options.wait_idle_s = limit_s
  local ok, reason = pcall(function()
    local idle = require "gpubench.sweep.idle"
    idle.before_first_point(is_about_times)
    idle.before_first_point(is_about_times)
  end)
  io.stderr, package.loaded["gpubench.sweep.idle"] = stderr, loaded
  native.contention.wait_idle, native.system.seconds, native.progress.show, native.progress.hide,
    native.options.wait_idle_s = table.unpack(kept)
  assert(ok, reason)
  return table.concat(text), waits, lines
end

testing.case("without the option nothing is waited for", function()
  testing.equal({ told(0, { busy }) }, { "", {}, {} })
end)

testing.case("without the option a busy machine is said once, where claims are about times", function()
  local text, waits = told(0, { busy, busy }, true)
  testing.equal({ text, waits }, { "the machine is busy: " .. busy .. ". Claims about times may stay open; --wait-idle "
    .. "600 waits until it is idle\n", { 0.3 } })
  testing.equal({ told(0, { calm }, true) }, { "", { 0.3 }, {} })
end)

testing.case("an idle machine is measured at once", function()
  testing.equal({ told(60, { calm }) }, { "", { 1 }, {} })
end)

testing.case("a busy machine is waited for, once", function()
  local text, waits = told(60, { busy, busy, calm })
  testing.equal(text, "waiting for an idle machine, at most 1 min (--wait-idle): other programs use 43 % of the "
    .. "processors, the hypervisor takes 2 %\nthe machine is idle after 3 s\n")
  testing.equal(waits, { 1, 1, 1 })
end)

testing.case("a machine that is never idle is measured in the end", function()
  local text, waits = told(2.5, { busy })
  testing.contains(text, "the machine was not idle within 2.5 s: other programs use 43 % of the processors, "
    .. "the hypervisor takes 2 %. Measuring goes on; claims about times may stay open\n")
  testing.equal(waits, { 1, 1, 0.5 })
end)

testing.case("a terminal shows the time that is left", function()
  local _, _, lines = told(60, { busy, calm })
  testing.equal(lines, { "59 s left  other programs use 43 % of the processors, the hypervisor takes 2 %", "" })
end)

testing.case("an idle machine is waited for within limits", function()
  local is_idle, found = native.contention.wait_idle(0)
  testing.equal({ is_idle, found }, { false, "the system does not tell how busy the processors are" })
  for _, wrong in ipairs { -1, 0 / 0, 1 / 0, 86401 } do
    testing.raises("s are no time to wait; 0 to 86400 s are possible", native.contention.wait_idle, wrong)
  end
end)
