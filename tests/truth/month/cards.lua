-- Cards that machine.txt describes, a line each: slot, UUID, seconds per unit of size. With `first.txt` the first
-- process of a night is slower by that factor.
local gb = require "gpubench"
local facts = require "gpubench.device_facts"

local cards, slots = {}, {}
for line in io.lines "machine.txt" do
  local slot, uuid, level = line:match "^(%S+) (%S+) (%S+)$"
  cards[slot] = { uuid = uuid, level = tonumber(level) }
  slots[#slots + 1] = slot
end

local real = facts.devices
function facts.devices()
  local list = real()
  for _, slot in ipairs(slots) do
    list[#list + 1] = { name = slot, description = "a GPU", details = { uuid = cards[slot].uuid } }
  end
  return list
end

local function number_in(name, otherwise)
  local file <close> = io.open(name)
  return file and file:read "n" or otherwise
end

local noise = number_in("noise.txt", 0)
local is_again = table.concat(gb._native.options.tags, " "):find "again=" ~= nil
local first = is_again and 1 or number_in("first.txt", 1)
if number_in("endless.txt") then
  while true do end
end

gb.experiment { name = "cards", title = "t",
  axes = { gb.axis("device", slots), gb.axis("size", { 64, 128 }) },
  columns = { gb.column("call_s", { unit = "s", better = "lower", kind = "counted" }) },
  run = function(point)
    return { device = point.device, call_s = first * cards[point.device].level * point.size * (1 + noise) }
  end,
  charts = { gb.chart.bar { x = "size", y = "call_s" } } }
