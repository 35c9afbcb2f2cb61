-- A script that `gpubench nightly` runs in a process of its own before it measures, because a look at a GPU takes some
-- of its memory (gb.devices). A line for each device with its free memory, then one for each problem that doctor finds:
-- the device (empty: the machine), the check and what was found, with tabs between them.
local gb = require "gpubench.native"
local device_facts = require "gpubench.device_facts"
local native = gb._native

local function say(device, fact, text)
  io.write(device, "\t", fact, "\t", native.results.one_line(text), "\n")
end

for _, device in ipairs(gb.devices()) do
  local free = gb.config.device_sensors(device).free_memory_bytes
  say(device, "free_memory_bytes", free and string.format("%.17g", free) or "")
end
-- The load is waited for later (wait_idle), and no chart is needed before the measurements.
for _, one in ipairs(device_facts.problems() or {}) do say(one.device or "", one.name, one.found) end
