-- Starts `gpubench run` in fresh processes, one after the other. Each makes runs of its own; their run.json names the
-- group, so that a comparison takes them as one side.
local gb = require "gpubench.native"
local exit_status = require "gpubench.exit_status"
local random_order = require "gpubench.random_order"
local native = gb._native

local fresh_processes = {}

-- A list whose rounds each hold every item once, in random order.
function fresh_processes.in_rounds(items, rounds, seed)
  local list = {}
  for round = 1, rounds do
    for _, index in ipairs(random_order(#items, seed + round)) do list[#list + 1] = { item = items[index], round = round } end
  end
  return list
end

-- The words of a command line; the parser is given those that look like options with a blank in front.
function fresh_processes.words(kept)
  local words = {}
  for index, word in ipairs(kept) do words[index] = word:gsub("^ %-", "-") end
  return words
end

-- What is neither done nor refuted nor unmeasured failed.
function fresh_processes.status_of(status)
  return exit_status.worse(status, status) or 2
end

-- one: { arguments = what follows `gpubench run`, group = its name, process = number from 1, processes = how many there
-- will be, varied = axes in which sides differ, program, environment = { "NAME=value" }, silent }. Returns the exit status.
function fresh_processes.run(one)
  local words = { one.program or native.host.program, "run", table.unpack(one.arguments) }
  local environment = { table.unpack(one.environment or {}) }
  environment[#environment + 1] = string.format("GPUBENCH_GROUP=%s;%d;%d;%s", one.group, one.process, one.processes,
    table.concat(one.varied or {}, ","))
  local ended = native.host.run_program(words, { environment = environment, silent = one.silent or false })
  native.check_interrupt()
  return ended.status
end

return fresh_processes
