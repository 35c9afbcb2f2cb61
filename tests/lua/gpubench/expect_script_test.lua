-- Claims on a script's own columns and by its own functions, and mistakes in them.
local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local testing = require "testing"
local claim_rows = dofile "tests/lua/gpubench/claim_rows.lua"
local rows, judge, axes = claim_rows.of_rates, claim_rows.judge, claim_rows.axes

-- Rows of a script's own columns: `xs` and the figures 1, 2, 3, ... or those given.
local function own_rows(xs, figures)
  local list = {}
  for index, x in ipairs(xs) do
    list[index] = { status = "ok", n = 1, x = x, size_bytes = figures and figures[index] or index }
  end
  return list
end

testing.case("that: a claim in Lua", function()
  local function that(verdict, reason)
    return gb.expect.that { claim = "c", judge = function() return verdict, reason end }
  end
  testing.equal({ judge(that("confirmed", "why")) }, { "confirmed", "why" })
  local verdict, reason = judge(that("perhaps"))
  testing.equal(verdict, "inconclusive")
  testing.contains(reason,
    "judge must return 'confirmed', 'refuted', 'inconclusive' or 'not measurable here', got 'perhaps'")
end)

testing.case("cells of several types along x are ordered by their type", function()
  local rises = gb.expect.increasing { x = "x", y = "size_bytes" }
  testing.equal(judge(rises, own_rows { 1, 2.5, 1 / 0, "a", "b", false, true }), "confirmed")
  testing.equal(judge(rises, own_rows { 1, 2, 3 }), "confirmed")
  testing.equal(judge(rises, own_rows({ true, "b", 1 }, { 3, 2, 1 })), "confirmed")
  local verdict, reason = judge(rises, own_rows { 1, 0 / 0, 3 })
  testing.equal(verdict, "inconclusive")
  testing.contains(reason, "1 of 3 rows without a figure: no x")
end)

testing.case("a range of x leaves out what is no number", function()
  local rises = gb.expect.increasing { x = "x", y = "size_bytes", from = 0, to = 10 }
  testing.equal(judge(rises, own_rows({ "a", 1, true, 2 }, { 9, 1, 9, 2 })), "confirmed")
  testing.equal({ judge(rises, own_rows { "a", false }) }, { "not measurable here", "no point matches" })
end)

testing.case("negative and huge figures are compared as they are", function()
  local function about(kind, fields)
    fields.x, fields.y = "x", "size_bytes"
    return gb.expect[kind](fields)
  end
  testing.equal(judge(about("knee", {}), own_rows({ 1, 2, 3 }, { -10, -5, -1 })), "inconclusive")
  testing.equal(judge(about("increasing", { until_knee = true }), own_rows({ 1, 2, 3 }, { -10, -5, -1 })), "confirmed")
  local ends = own_rows({ 1, 2 }, { math.mininteger, math.maxinteger })
  testing.equal(judge(about("increasing", {}), ends), "confirmed")
  testing.equal(judge(about("equal", { tolerance = 0.5 }), ends), "refuted")
  testing.equal(judge(about("decreasing", {}), own_rows({ 1, 2 }, { 1e308, -1e308 })), "confirmed")
end)

testing.case("judge of a script gets rows of its own", function()
  local spoils = gb.expect.that { claim = "c", judge = function(given)
    for _, row in ipairs(given) do row.status, row.size_bytes = {}, {} end
    return "confirmed", "so"
  end }
  local list = own_rows { 1, 2 }
  local judged = claims.judge_all({ spoils, gb.expect.increasing { x = "x", y = "size_bytes" } }, list, axes)
  testing.equal({ judged[1].verdict, judged[2].verdict, list[1].status }, { "confirmed", "confirmed", "ok" })
end)

testing.case("what judge returns is checked", function()
  for message, judge_of_script in pairs {
    ["the reason that judge returns: string expected, got number"] = function() return "confirmed", 5 end,
    ["the answer that judge returns: string expected, got table"] = function() return "confirmed", "so", {} end,
    ["got 'nil'"] = function() end,
    ["out of order"] = function() error "out of order" end,
  } do
    local verdict, reason = judge(gb.expect.that { claim = "c", judge = judge_of_script }, own_rows { 1 })
    testing.equal(verdict, "inconclusive")
    testing.contains(reason, "judging failed: ")
    testing.contains(reason, message)
    testing.is_true(not reason:find "failed: gpubench/", "no place in the library")
  end
end)

testing.case("what chooses rows is checked", function()
  for message, options in pairs {
    ["option 'where': the name of a column: string expected, got number"] = { where = { 5 } },
    ["option 'where': n: number or string or boolean expected, got table"] = { where = { n = {} } },
    ["option 'of': the name of a column: string expected, got boolean"] = { of = { [true] = 1 }, over = { n = 1 } },
    ["option 'by': name 2: string expected, got table"] = { by = { "n", {} } },
  } do
    options.x, options.y = "n", "step_time_s"
    testing.raises("gb.expect.increasing: " .. message, gb.expect.increasing, options)
  end
  testing.raises("option 'value': number or string or boolean expected, got table", gb.expect.best,
    { x = "n", y = "step_time_s", value = {}, tolerance = 0.1 })
end)

testing.case("what a script knows to be unmeasurable is not judged, and takes no rounds", function()
  local options = { y = "step_time_s", value = 1, unmeasurable = "there is no GPU here" }
  for _, why in ipairs { "there is no GPU here", false } do
    options.unmeasurable = why or nil
    local claim = gb.expect.at_least(options)
    testing.equal(claims.needs_rounds(claim, false), not why)
    testing.equal({ judge(claim, rows("a", { 0.5, 0.5 }, 0.1)) }, why and { "not measurable here", why } or
      { "confirmed",
        "step_time_s is 2 s [1.8 s, 2.2 s] at device=a n=1; step_time_s is 2 s [1.8 s, 2.2 s] at device=a n=2" })
  end
  local that = gb.expect.that {
    claim = "c", reads = { "step_time_s" }, judge = function() error "not called" end, unmeasurable = "why",
  }
  testing.equal(claims.needs_rounds(that, false), false)
  testing.equal({ judge(that) }, { "not measurable here", "why" })
  testing.raises("option 'unmeasurable': string expected, got boolean", gb.expect.at_least,
    { y = "b", value = 1, unmeasurable = true })
end)

testing.case("mistakes are named", function()
  testing.raises("gb.expect.increasing: option 'x' is required", gb.expect.increasing, { y = "b" })
  testing.raises("gb.expect.ratio: option 'at_least' or 'at_most' is required", gb.expect.ratio,
    { y = "b", of = {}, over = {} })
  testing.raises("gb.expect.knee: option 'share': between 0 and 1, got 2", gb.expect.knee,
    { x = "a", y = "b", share = 2 })
  testing.raises("gb.expect.at_least: unknown option 'x' (known: y, value, where, claim, by, answer, id, unmeasurable)",
    gb.expect.at_least,
    { x = "a", y = "b", value = 1 })
end)
