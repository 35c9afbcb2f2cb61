-- `gpubench finish`: writes the report and the charts of a run whose program died, or the charts of any run in the
-- formats of --chart-format.
local native = require("gpubench.native")._native

return function(options)
  local finished = native.results.finish(options.run, native.options.out, native.options.chart_formats)
  io.write(native.results.render(finished.directory, "text", native.options.out, native.options.style))
  if not finished.report then
    print(native.results.one_line(finished.directory) .. " has its report already: nothing to finish")
    return 0
  end
  for _, note in ipairs(finished.notes) do io.stderr:write(native.results.one_line(note), "\n") end
  print(native.results.one_line("report: " .. finished.report:gsub("^%./", "")))
  return 0
end
