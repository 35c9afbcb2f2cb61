-- Starts `gpubench run` in fresh processes, one after the other. Each makes runs of its own; their run.json names the
-- group, so that a comparison takes them as one side.
local gb = require "gpubench.native"
local exit_status = require "gpubench.exit_status"
local random_order = require "gpubench.sweep.random_order"
local native = gb._native

local fresh_processes = {}

-- A list whose rounds each hold every item once, in random order.
function fresh_processes.in_rounds(items, rounds, seed)
  local list = {}
  for round = 1, rounds do
    for _, index in ipairs(random_order(#items, seed + round)) do
      list[#list + 1] = { item = items[index], round = round }
    end
  end
  return list
end

-- The words of a command line; the parser is given those that look like options with a blank in front.
function fresh_processes.words(kept)
  local words = {}
  for index, word in ipairs(kept) do words[index] = word:gsub("^ %-", "-") end
  return words
end

-- One word, whatever the value is: as two words, a value such as "--trusted" could be an option of its own.
function fresh_processes.option(name, value)
  return name .. "=" .. (type(value) == "number" and string.format("%.17g", value) or value)
end

-- A script's file as an argument, which no name makes an option, or the ":" between two programs of mpirun.
function fresh_processes.script(path)
  return path:find "^[-:]" and "./" .. path or path
end

-- How the run in `folder` is measured again: { script, options, left_out }, with the text of the script as `text`.
-- Nothing else of a stored run becomes a word of a command line. nil and the reason where it cannot be measured again.
function fresh_processes.stored_call(folder)
  local ok, call = pcall(native.host.stored_call, folder)
  if not ok then return nil, call end
  local file, reason = io.open(call.script, "rb")
  if not file then return nil, reason end
  call.text, reason = file:read "a"
  file:close()
  if not call.text then return nil, reason end
  return call
end

-- What is neither done nor refuted nor unmeasured failed.
function fresh_processes.status_of(status)
  return exit_status.worse(status, status) or 2
end

-- one: { arguments = what follows `gpubench run`, group = its name, process = number from 1, processes = how many there
-- will be, varied = axes in which sides differ, program, environment = { "NAME=value" }, silent = whether only results
-- below --out are wanted }. program: from this command line, never from a run. Returns the exit status.
function fresh_processes.run(one)
  local words = { one.program or native.host.program, "run", table.unpack(one.arguments) }
  if one.silent then
    table.move({ "-q", fresh_processes.option("--out", native.options.out) }, 1, 2, #words + 1, words)
  end
  local environment = { table.unpack(one.environment or {}) }
  environment[#environment + 1] = string.format("GPUBENCH_GROUP=%s;%d;%d;%s", one.group, one.process, one.processes,
    table.concat(one.varied or {}, ","))
  local ended = native.host.run_program(words, { environment = environment, silent = one.silent or false })
  native.check_interrupt()
  return ended.status
end

return fresh_processes
