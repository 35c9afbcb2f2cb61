-- `gpubench report`: a page of a comparison, of one side alone, or of a trend over the nights; or one side as LaTeX.
local check = require "gpubench.check"
local comparisons = require "gpubench.comparisons"
local native = require("gpubench.native")._native
local out = native.options.out

-- Of names of runs, folders and files: their last part, in characters of file names.
local function file_of(names, ending)
  local parts = {}
  for index, name in ipairs(names) do
    local last = name:gsub("/+$", ""):match "[^/]*$"
    parts[index] = last:gsub("[^%w_.-]", "_"):sub(1, 60)
  end
  return "report-" .. table.concat(parts, "-") .. (ending or ".html")
end

local function say(headline, file)
  if headline then print(native.results.one_line(headline)) end
  print("wrote " .. file)
end

local function write_latex(sides, options)
  if #sides ~= 1 then
    check.fail("report: --format latex writes one side, given: %s; write a file for each, or compare them as a page",
      options.history and "--history" or #sides .. " sides")
  end
  local file = options.file or file_of(sides, ".tex")
  native.compare.write_latex { side = sides[1], out = out, file = file, figures = options.figure,
    all_figures = options.all_figures }
  say(nil, file)
  return 0
end

return function(options)
  local sides = options.sides or {}
  if (#sides == 0) == (options.history == nil) then
    check.fail("report: either sides are needed or --history EXPERIMENT: gpubench report BASELINE [SIDE...]; given: %s",
      #sides == 0 and "neither" or "both")
  end
  if options.format == "latex" then return write_latex(sides, options) end
  if options.history then
    local file = options.file or file_of { "history", options.history }
    say(native.history.write_page(out, options.history, file), file)
    return 0
  end
  local file = options.file or file_of(sides)
  if #sides == 1 then
    if options.figure then
      check.fail("report: --figure chooses what is compared; the page of one side, here %s, has all of its figures",
        sides[1])
    end
    native.compare.write_side(sides[1], out, file)
    say(nil, file)
    return 0
  end
  options.format = "html"
  local result = comparisons.sides(sides, options, nil, { file = file })
  say(result.headline, file)
  return result.status
end
