-- gb.expect: documented claims, made executable. A claim is judged on the rows of a run with their 95 % intervals:
-- confirmed, refuted, or open, with the reason: inconclusive (intervals overlap, rows are unreliable or missing) or not
-- measurable here (no row has the figure).
local answer = require "gpubench.expect.answer"
local best = require "gpubench.expect.best"
local bounds = require "gpubench.expect.bounds"
local check = require "gpubench.check"
local columns = require "gpubench.columns"
local claim_of = require("gpubench.expect.claim").new
local crossover = require "gpubench.expect.crossover"
local doubts = require "gpubench.expect.doubts"
local estimate = require "gpubench.expect.estimate"
local groups = require "gpubench.expect.groups"
local order = require "gpubench.expect.order"
local native = require("gpubench.native")._native
local ratio = require "gpubench.expect.ratio"

local expect = {}

local function said(claim, wanted) return claim.is_plain and ratio.in_words(wanted) or ratio.describe(wanted) end
local function set_to(claim, name, value) return string.format(claim.is_plain and "%s %s" or "%s=%s", name, value) end

local common = {
  { "where", "table" }, { "claim", "string" }, { "by", "string|array" }, { "answer", "string" }, { "id", "string" },
  { "unmeasurable", "string" },
}
local along_x = { { "x", "string", required = true }, { "y", "string", required = true } }
local cell = "number|string|boolean"
local of_y = { { "y", "string", required = true } }

local function join(...)
  local all = {}
  for _, list in ipairs { ... } do
    for _, field in ipairs(list) do all[#all + 1] = field end
  end
  return all
end

-- All axes but x keep rows apart, whether `by` names them or not; `by` is for the reader.
local function by_text(options, where)
  if not options.by then return "" end
  for index, name in ipairs(type(options.by) == "table" and options.by or {}) do
    check.kind(string.format("%s: option 'by': name %d", where, index), name, "string")
  end
  return " for every " .. (type(options.by) == "table" and table.concat(options.by, " and ") or options.by)
end

-- The claim's text with columns as tables and charts name them; `text` keeps the names of results.csv, of which ids are
-- made.
local function in_words(claim, describe, where)
  local plain = { is_plain = true }
  for _, option in ipairs { "x", "y", "with", "axis" } do
    plain[option] = claim[option] and native.results.heading(claim[option])
  end
  return describe(setmetatable(plain, { __index = claim }), where)
end

-- What chooses rows: cells by the names of their columns.
local function check_choices(where, options)
  for _, option in ipairs { "where", "of", "over" } do
    for name, value in pairs(options[option] or {}) do
      check.kind(string.format("%s: option '%s': the name of a column", where, option), name, "string")
      check.kind(string.format("%s: option '%s': %s", where, option, name), value, cell)
    end
  end
end

local function define(name, fields, describe, judge)
  expect[name] = function(options)
    local where = "gb.expect." .. name
    check.options(where, options, join(fields, common))
    check_choices(where, options)
    local claim = claim_of { judge = judge, kind = name }
    for key, value in pairs(options) do claim[key] = value end
    local text = describe(claim, where)
    claim.text = options.claim or text .. by_text(options, where)
    claim.words = options.claim or in_words(claim, describe, where)
    if claim.of then claim.of_text, claim.over_text = ratio.in_words(claim.of), ratio.in_words(claim.over) end
    answer.check(where, claim)
    return claim
  end
end

local function check_bounds(claim, where)
  if claim.at_least or claim.at_most then return end
  check.fail("%s: option 'at_least' or 'at_most' is required", where)
end

local function bounds_text(claim)
  local parts = {}
  if claim.at_least then parts[#parts + 1] = string.format("at least %g", claim.at_least) end
  if claim.at_most then parts[#parts + 1] = string.format("at most %g", claim.at_most) end
  return table.concat(parts, " and ")
end

local course = join(along_x, {
  { "from", "number" }, { "to", "number" }, { "tolerance", "number" }, { "of", "table" }, { "over", "table" },
})

-- What a course is about: a column, or the ratio of two rows' columns.
local function figure_text(claim, where)
  if not claim.of and not claim.over then return claim.y end
  if not claim.of then check.fail("%s: option 'of' is required with 'over'", where) end
  if not claim.over then check.fail("%s: option 'over' is required with 'of'", where) end
  return string.format("%s of %s over that of %s", claim.y, said(claim, claim.of), said(claim, claim.over))
end

local function course_text(claim, where, moves)
  local parts = { figure_text(claim, where), moves, "with", claim.x }
  if claim.from then parts[#parts + 1] = string.format("from %g", claim.from) end
  if claim.to then parts[#parts + 1] = string.format(claim.from and "to %g" or "up to %g", claim.to) end
  if claim.until_knee then parts[#parts + 1] = "until the knee" end
  return table.concat(parts, " ")
end

define("increasing", join(course, { { "until_knee", "boolean" } }), function(claim, where)
  return course_text(claim, where, "rises")
end, order.judge(1))
define("decreasing", course, function(claim, where) return course_text(claim, where, "falls") end, order.judge(-1))

define("knee", join(along_x, { { "share", "number" } }), function(claim, where)
  claim.share = claim.share or order.default_share
  if claim.share <= 0 or claim.share >= 1 then
    check.fail("%s: option 'share': between 0 and 1, got %g", where, claim.share)
  end
  return string.format("%s reaches %g %% of its best before the last %s", claim.y, claim.share * 100, claim.x)
end, order.judge_knee)

define("equal", join(along_x, { { "tolerance", "number", required = true } }), function(claim)
  return string.format("%s is the same within %g %% for every %s", claim.y, claim.tolerance * 100, claim.x)
end, bounds.judge_equal)

local best_fields = {
  { "value", cell, required = true }, { "tolerance", "number", required = true }, { "better", "string" },
}
define("best", join(along_x, best_fields), function(claim, where)
  claim.better = columns.direction(where, claim.y, claim.better)
  return string.format("%s at %s is within %g %% of the best %s", claim.y, set_to(claim, claim.x, claim.value),
    claim.tolerance * 100, claim.x)
end, best.judge)

define("agree", join(of_y, { { "with", "string", required = true }, { "tolerance", "number" } }), function(claim)
  claim.tolerance = claim.tolerance or 0
  local within = claim.tolerance == 0 and "" or string.format(" within %g %%", claim.tolerance * 100)
  return string.format("%s equals %s%s", claim.y, claim.with, within)
end, bounds.judge_agree)

define("at_least", join(of_y, { { "value", "number", required = true } }), function(claim)
  claim.at_least = claim.value
  return claim.y .. " is " .. bounds_text(claim)
end, bounds.judge)

define("at_most", join(of_y, { { "value", "number", required = true } }), function(claim)
  claim.at_most = claim.value
  return claim.y .. " is " .. bounds_text(claim)
end, bounds.judge)

local ratio_fields = {
  { "of", "table", required = true }, { "over", "table", required = true },
  { "at_least", "number" }, { "at_most", "number" },
}
define("ratio", join(of_y, ratio_fields), function(claim, where)
  check_bounds(claim, where)
  return string.format("%s of %s is %s times that of %s", claim.y, said(claim, claim.of), bounds_text(claim),
    said(claim, claim.over))
end, bounds.judge_ratio)

define("crossover", join(along_x, {
  { "of", "table", required = true }, { "over", "table", required = true }, { "from", "number" }, { "to", "number" },
}), function(claim)
  return string.format("%s of %s falls below that of %s as %s rises", claim.y, said(claim, claim.of),
    said(claim, claim.over), claim.x)
end, crossover.judge)

local faster_fields = {
  { "axis", "string", required = true }, { "value", cell, required = true }, { "than", cell, required = true },
  { "factor", "number" }, { "better", "string" },
}
define("faster", join(of_y, faster_fields), function(claim, where)
  local factor = claim.factor or 1
  claim.better = columns.direction(where, claim.y, claim.better)
  claim.of, claim.over = { [claim.axis] = claim.value }, { [claim.axis] = claim.than }
  claim.at_least = factor  -- times as fast, whether the column is better lower or higher
  local times = factor == 1 and "" or string.format(" at least %g times", factor)
  return string.format("%s is%s faster than %s by %s", set_to(claim, claim.axis, claim.value), times,
    claim.than, claim.y)
end, bounds.judge_faster)

-- Of the judge of gb.expect.that that runs now: why the first figure that it asked for may not be relied on, and its
-- column.
local refused

local verdicts = { confirmed = true, refuted = true, inconclusive = true, ["not measurable here"] = true }

local that_fields = {
  { "claim", "string", required = true }, { "judge", "function", required = true }, { "reads", "array" },
  { "where", "table" }, { "axes", "array" }, { "id", "string" }, { "unmeasurable", "string" },
}

-- A claim that only Lua can state: judge(rows) returns a verdict, the reason and, if it likes, the answer in a
-- sentence. Its rows are those that match `where`; they are measured in rounds if a column that it reads takes that.
function expect.that(options)
  check.options("gb.expect.that", options, that_fields)
  check_choices("gb.expect.that", options)
  for index, name in ipairs(options.reads or {}) do
    check.kind("gb.expect.that: option 'reads': column " .. index, name, "string")
  end
  for index, name in ipairs(options.axes or {}) do
    check.kind("gb.expect.that: option 'axes': axis " .. index, name, "string")
  end
  local fields = {
    text = options.claim, id = options.id, reads = options.reads or {}, where = options.where, axes = options.axes,
    unmeasurable = options.unmeasurable,
  }
  function fields.judge(claim, rows)
    local about = {}
    for _, row in ipairs(rows) do
      if groups.may_match(row, claim.where) then about[#about + 1] = estimate.copy(row) end
    end
    refused = nil
    local ok, verdict, reason, sentence = native.ask(options.judge, about)
    if not ok then error(verdict, 0) end
    if not verdicts[verdict] then
      check.fail("gb.expect.that: judge must return 'confirmed', 'refuted', 'inconclusive' or "
        .. "'not measurable here', got '%s'",
        type(verdict) == "string" and verdict or type(verdict))
    end
    if sentence ~= nil then check.kind("gb.expect.that: the answer that judge returns", sentence, "string") end
    if reason ~= nil then check.kind("gb.expect.that: the reason that judge returns", reason, "string") end
    reason = { text = reason or "" }
    if verdict == "inconclusive" then
      reason.kind, reason.column = refused and refused.kind or "unknown", refused and refused.column
    end
    return verdict, reason, sentence
  end
  return claim_of(fields)
end

local function figure_of(where, number, row, column)
  check.kind(where .. ": argument #" .. number, row, "table")
  check.kind(where .. ": argument #" .. number + 1, column, "string")
  local figure = row.status == "ok" and estimate.of(row, column)
  local doubt = not figure
    and doubts.of("no_figure", estimate.not_a_number(row, column)
      or string.format("a row without %s: %s", column, row.detail or tostring(row.status)))
    or estimate.doubt(row, column)
  if not doubt then return figure end
  refused = refused or { kind = doubt.kind, column = column }
  return nil, doubt.text
end

local function plain(figure)
  return { value = figure.value, low = figure.low, high = figure.high }
end

-- For gb.expect.that: the figure of a row with the ends of its 95 % interval, { value, low, high }; nil and the reason
-- where a claim may not rely on it.
function expect.figure(row, column)
  local figure, why = figure_of("gb.expect.figure", 1, row, column)
  if not figure then return nil, why end
  return plain(figure)
end

-- For gb.expect.that: how many times the figure of one row is that of another, round by round.
function expect.compare(of, over, column)
  local where = "gb.expect.compare"
  check.kind(where .. ": argument #2", over, "table")
  check.kind(where .. ": argument #3", column, "string")
  local one, why_one = figure_of(where, 1, of, column)
  local other, why_other = figure_of(where, 2, over, column)
  if not one or not other then return nil, why_one or why_other end
  if one.low <= 0 or other.low <= 0 then return nil, column .. " is not above zero" end
  return plain(estimate.ratio(one, other))
end

return expect
