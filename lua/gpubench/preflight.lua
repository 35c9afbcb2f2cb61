-- A script that `gpubench nightly` runs in a process of its own before it measures, because a look at a GPU takes some of
-- its memory. A line for each fact of a device: its name, the fact and its text, with tabs between them.
local gb = require "gpubench.native"
local native = gb._native

for _, device in ipairs(gb.devices()) do
  local function say(fact, text) io.write(device, "\t", fact, "\t", native.results.one_line(tostring(text)), "\n") end
  say("description", gb.config.device_description(device))
  for name, value in pairs(gb.config.device_sensors(device)) do say(name, string.format("%.17g", value)) end
  for _, detail in ipairs(native.device_details(device)) do say("text of " .. detail[1], detail[2]) end
end
