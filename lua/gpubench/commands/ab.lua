-- `gpubench ab A B -- SCRIPT`: two sides in fresh processes in ABBA order, then their comparison.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local fresh_processes = require "gpubench.fresh_processes"
local comparisons = require "gpubench.comparisons"
local native = gb._native

local usual_count = 10

-- A side is a word of settings: variables of the environment, a program, and options of run.
local function side_of(text)
  local side = { name = text:match "^%s*(.-)%s*$", environment = {}, arguments = {}, settings = {} }
  for word in text:gmatch "%S+" do
    if #side.arguments == 0 and word:find "^[%a_][%w_]*=" then
      side.environment[#side.environment + 1] = word
    elseif #side.arguments == 0 and not word:find "^%-" then
      if not native.system.exists(word) then
        check.fail("ab: '%s' is no program's file, no NAME=value and no option of run", word)
      end
      side.program = word:find "/" and word or "./" .. word
    else
      side.arguments[#side.arguments + 1] = word
    end
  end
  for index, word in ipairs(side.arguments) do
    local option, value = word:match "^(%-%-%l+)=(.*)$"
    option, value = option or word, value or side.arguments[index + 1] or ""
    if option == "--set" then
      local axis, values = value:match "^([^=]+)=(.*)$"
      if axis then side.settings[axis] = values end
    elseif option == "--device" then
      side.settings.device = value
    end
  end
  for _, word in ipairs(side.environment) do
    local name, value = word:match "^([^=]+)=(.*)$"
    side.settings[name] = value
  end
  if side.name == "" then side.name = "as it is" end
  return side
end

-- The settings in which the sides differ tell no rows apart, so an axis among them has one value on each side.
local function varied_by(sides)
  local list, seen = {}, {}
  for _, side in ipairs(sides) do
    for _, name in ipairs(check.sorted_keys(side.settings)) do
      if not seen[name] and sides[1].settings[name] ~= sides[2].settings[name] then list[#list + 1] = name end
      seen[name] = true
    end
  end
  for _, name in ipairs(list) do
    for _, side in ipairs(sides) do
      if (side.settings[name] or ""):find "," then
        check.fail("ab: '%s': %s has several values, and not the same ones on both sides; values that both sides have "
          .. "go behind the script: -- SCRIPT --set %s=%s", side.name, name, name, side.settings[name])
      end
    end
  end
  return list
end

local function append(list, more)
  return table.move(more, 1, #more, #list + 1, list)
end

return function(options)
  local words = fresh_processes.words(options.words)
  if #words < 3 then
    check.fail("ab: two sides and a script are needed: gpubench ab A B -- SCRIPT; given: %s", table.concat(words, " "))
  end
  local sides = { side_of(words[1]), side_of(words[2]) }
  local group, count, varied = native.compare.new_group(), options["repeat"] or usual_count, varied_by(sides)
  sides[1].group, sides[2].group = group .. "-a", group .. "-b"
  for process = 1, count do
    for _, index in ipairs(process % 2 == 1 and { 1, 2 } or { 2, 1 }) do
      local side = sides[index]
      io.stderr:write(native.results.one_line(string.format("process %d of %d: %s", process, count, side.name)), "\n")
      local arguments = append({ table.unpack(words, 3) }, side.arguments)
      local status = fresh_processes.run {
        arguments = arguments, group = side.group, process = process, processes = count, varied = varied,
        program = side.program, environment = side.environment, silent = true,
      }
      if fresh_processes.status_of(status) > 1 then
        check.fail("ab: process %d of '%s' ended with status %d; the reason stands above", process, side.name, status)
      end
    end
  end
  local more = { command = { "gpubench", "ab", words[1], words[2] }, rest = { "--", table.unpack(words, 3) } }
  local groups, names = { sides[1].group, sides[2].group }, { sides[1].name, sides[2].name }
  return comparisons.print(comparisons.sides(groups, options, names, { more = more }))
end
