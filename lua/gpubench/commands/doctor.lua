-- `gpubench doctor`: does something here cost speed, and what is to be done about it?
local gb = require "gpubench.native"
local arithmetic = require "gpubench.arithmetic"
local native = gb._native

local function by_state(results, state)
  local list = {}
  for _, one in ipairs(results) do
    if one.state == state then list[#list + 1] = one end
  end
  return list
end

local function name_of(one)
  return one.device and one.name .. " " .. one.device or one.name
end

local function print_line(...)
  print(native.results.one_line(string.format(...)))
end

local function print_problem(one)
  print_line("%s: %s", name_of(one), one.found)
  print_line("    costs   %s", one.consequence)
  print_line("    remedy  %s", one.remedy)
end

local function names_of(list)
  local names, seen = {}, {}
  for _, one in ipairs(list) do
    if not seen[name_of(one)] then names[#names + 1] = name_of(one) end
    seen[name_of(one)] = true
  end
  return table.concat(names, ", ")
end

-- Checks that are unknown for one reason, such as a driver that does not respond, stand in one line.
local function print_unknown(list)
  local by_reason, reasons = {}, {}
  for _, one in ipairs(list) do
    if not by_reason[one.found] then
      by_reason[one.found] = {}
      reasons[#reasons + 1] = one.found
    end
    table.insert(by_reason[one.found], one)
  end
  for _, reason in ipairs(reasons) do print_line("unknown: %s: %s", names_of(by_reason[reason]), reason) end
end

local function verdict(slow, faulty)
  local parts = {}
  if #faulty > 0 then
    parts[#parts + 1] = string.format("%s wrong", #faulty == 1 and "1 thing is" or #faulty .. " things are")
  end
  if #slow > 0 then
    parts[#parts + 1] = string.format("%s speed", #slow == 1 and "1 thing costs" or #slow .. " things cost")
  end
  return parts[1] and table.concat(parts, ", ") .. " here" or "Nothing here costs speed"
end

local function print_all(results)
  local slow, faulty = by_state(results, "costs speed"), by_state(results, "wrong")
  local unknown, fine = by_state(results, "unknown"), by_state(results, "ok")
  print_line("%s.", verdict(slow, faulty))
  for _, list in ipairs { faulty, slow } do
    for _, one in ipairs(list) do print_problem(one) end
  end
  print_unknown(unknown)
  if fine[1] then print_line("ok: %s", names_of(fine)) end
end

return function(options)
  local devices = gb.devices()  -- tries all GPUs, of which the check `devices` tells
  local results = native.doctor.check()
  if options.verify then
    for _, device in ipairs(devices) do results[#results + 1] = arithmetic.verify(device) end
  end
  local problem = false
  for _, one in ipairs(results) do problem = problem or one.problem end
  if options.json then
    print(native.results.json { checks = results, problem = problem })
  else
    print_all(results)
  end
  return problem and 1 or 0
end
