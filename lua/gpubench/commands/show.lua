-- `gpubench show`: a run again, or the list of all runs.
local gb = require "gpubench.native"
local two_columns = require "gpubench.two_columns"
local native = gb._native

return function(options)
  local out = native.options.out
  if options.run then
    io.write(native.results.render(options.run, options.format or "text", out, native.options.style))
    return 0
  end
  local lines = {}
  for index, one in ipairs(native.results.list(out)) do
    local is_damaged = one.damage ~= ""
    lines[index] = { one.directory, is_damaged and string.format("%s: %s", one.status, one.damage)
      or string.format("%s, %s: %s", one.status, gb.format.count(one.rows, "row"), one.title) }
  end
  if #lines == 0 then print("no runs below " .. out) end
  two_columns.print(lines)
  return 0
end
