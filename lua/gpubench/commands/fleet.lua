-- `gpubench fleet`: which machine stands out tonight, in one or several histories.
local check = require "gpubench.check"
local native = require("gpubench.native")._native
local one_line = native.results.one_line

return function(options)
  local format = options.format or "text"
  -- A page is for a browser: its text on a terminal helps nobody.
  local file = options.file or (format == "html" and "fleet.html" or nil)
  if options.suite == "" then check.fail "fleet: --suite names a suite" end
  local result = native.fleet.judge {
    files = options.histories,
    hosts = options.host,
    suite = options.suite,
    out = native.options.out,
    format = format,
    file = file,
    wide = native.options.style.all_columns,
  }
  if result.text then
    if file then
      print(one_line(result.headline))
      print("wrote " .. file)
    else
      io.write(result.text)
    end
  end
  for _, reason in ipairs(result.left_out) do io.stderr:write("not read: ", one_line(reason), "\n") end
  return #result.left_out > 0 and 2 or result.status
end
