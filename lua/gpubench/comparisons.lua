-- Comparisons for the commands that make them: the same options, the same output.
local native = require("gpubench.native")._native

local comparisons = {}

-- Sides by name, the baseline first. options: those of the command; names: what to call the sides. details: `again`,
-- two sides that were measured to confirm what is worse; `more`, the command that measures more of both, { command =
-- words before its option --repeat, rest = words after it }; `file`, where the text is written.
function comparisons.sides(sides, options, names, details)
  details = details or {}
  return native.compare.judge {
    sides = sides,
    names = names,
    again = details.again,
    more = details.more and details.more.command,
    rest = details.more and details.more.rest,
    file = details.file,
    out = native.options.out,
    format = options.format or "text",
    style = native.options.style,
    figures = options.figure,
    all_figures = options.all_figures,
    better = options.better,
    threshold = options.threshold,
    strict = options.strict,
  }
end

-- Returns the exit status.
function comparisons.print(result)
  io.write(result.text)
  return result.status
end

return comparisons
