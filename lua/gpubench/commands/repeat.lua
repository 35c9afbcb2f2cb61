-- `gpubench run --repeat K`: each script in K fresh processes. Every round runs all scripts, in random order, so that a
-- drift of the machine meets all alike.
local gb = require "gpubench.native"
local exit_status = require "gpubench.exit_status"
local fresh_processes = require "gpubench.fresh_processes"
local native = gb._native

local function has(words, ...)
  for _, wanted in ipairs { ... } do
    for _, word in ipairs(words) do
      if word == wanted then return true end
    end
  end
  return false
end

local function is_for_programs(words)
  return has(words, "--json", "-q", "--quiet")
end

return function(options)
  local scripts, words = options.scripts, options.options
  local dry = has(words, "--dry-run")
  local group = native.compare.new_group()
  local out = is_for_programs(words) and io.stderr or io.stdout
  local worst = 0
  for _, one in ipairs(fresh_processes.in_rounds(scripts, dry and 1 or options.count, native.options.seed)) do
    local arguments = { one.item, table.unpack(words) }
    if not dry and not is_for_programs(words) then arguments[#arguments + 1] = "-q" end
    local status = fresh_processes.run {
      arguments = arguments, group = group, process = one.round, processes = options.count,
    }
    worst = exit_status.worse(worst, fresh_processes.status_of(status))
  end
  if dry then
    out:write(string.format("each of these is run in %s\n", gb.format.count(options.count, "process")))
  else
    out:write(string.format("%s, one side for gpubench compare: %s\n",
      gb.format.count(options.count, "process"), group))
  end
  return worst
end
