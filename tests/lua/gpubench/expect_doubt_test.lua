-- Claims on rows that are missing, failed or cannot be relied on.
local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local testing = require "testing"
local claim_rows = dofile "tests/lua/gpubench/claim_rows.lua"
local rows, judge, axes = claim_rows.of_rates, claim_rows.judge, claim_rows.axes

testing.case("not measurable here says why", function()
  local claim = gb.expect.increasing { x = "n", y = "power_w" }
  local verdict, reason = judge(claim, rows("a", { 1, 2, 3 }))
  testing.equal(verdict, "not measurable here")
  testing.equal(reason, "no power_w at device=a")
  verdict, reason = judge(claim, { { status = "skipped", detail = "no GPU", device = "a", n = 1 } })
  testing.equal(reason, "skipped: no GPU")
  verdict, reason = judge(claim, { { status = "error", detail = "broken", device = "a", n = 1 } })
  testing.equal(reason, "error: broken at device=a")
  verdict, reason = judge(gb.expect.increasing { x = "n", y = "examples_per_s", where = { device = "c" } },
    rows("a", { 1 }))
  testing.equal(reason, "no point matches")
  verdict, reason = judge(gb.expect.increasing { x = "n", y = "examples_per_s" }, rows("a", { 1 }))
  testing.equal(verdict .. ": " .. reason, "not measurable here: fewer than two values of n at device=a")
end)

testing.case("a long list of reasons is cut", function()
  local claim = gb.expect.at_least { y = "examples_per_s", value = 5 }
  local _, reason = judge(claim, rows("a", { 10, 20, 30 }), rows("b", { 10, 20 }))
  testing.contains(reason, "is 30/s at device=a n=4; and 2 more")
end)

local function failed(device, n, status)
  return { status = status, detail = "why", device = device, n = n }
end

testing.case("a setting without any figure leaves the claim open", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s" }
  local verdict, reason = judge(claim, rows("a", { 10, 20 }), { failed("b", 1, "error"), failed("b", 2, "timeout") })
  testing.equal({ verdict, reason }, { "inconclusive", "error: why; timeout: why at device=b" })
  testing.equal(judge(claim, rows("a", { 20, 10 }), { failed("b", 1, "error") }), "refuted")
  verdict, reason = judge(claim, rows("a", { 10, 20 }), { failed("b", 1, "out_of_memory") })
  testing.equal({ verdict, reason }, { "inconclusive", "out_of_memory: why at device=b; 1 row out of memory" })
  -- What the script leaves out on purpose is no part of its claim.
  verdict, reason = judge(claim, rows("a", { 10, 20 }), { failed("b", 1, "skipped") })
  testing.equal({ verdict, reason },
    { "confirmed", "rises from 10/s to 20/s between n 1 and 2 at device=a; 1 row skipped" })
end)

testing.case("a row without a figure leaves the claim open, unless memory ends the course there", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s" }
  local verdict, reason = judge(claim, rows("a", { 10, 20 }), { failed("a", 4, "error") })
  testing.equal({ verdict, reason }, { "inconclusive", "1 of 3 rows without a figure: error: why at device=a" })
  testing.equal(judge(claim, rows("a", { 20, 10 }), { failed("a", 4, "error") }), "refuted")
  verdict, reason = judge(claim, rows("a", { 10, 20 }), { failed("a", 4, "out_of_memory") })
  testing.equal({ verdict, reason },
    { "confirmed", "rises from 10/s to 20/s between n 1 and 2 at device=a; 1 row out of memory" })
  local equal = gb.expect.equal { x = "n", y = "examples_per_s", tolerance = 0.1 }
  testing.equal(judge(equal, rows("a", { 10, 10 }), { failed("a", 4, "timeout") }), "inconclusive")
end)

local function unreliable(list, ...)
  for _, index in ipairs { ... } do list[index].quality = "unreliable: not settled" end
  return list
end

testing.case("unreliable rows confirm nothing", function()
  local claim = gb.expect.at_least { y = "examples_per_s", value = 5 }
  local verdict, reason = judge(claim, unreliable(rows("a", { 10, 20 }), 2))
  testing.equal({ verdict, reason }, { "inconclusive", "unreliable: not settled at device=a n=2" })
  local rising = gb.expect.increasing { x = "n", y = "examples_per_s" }
  verdict, reason = judge(rising, unreliable(rows("a", { 10, 20, 30 }), 1, 2))
  testing.equal({ verdict, reason }, { "inconclusive", "2 of 3 rows unreliable: not settled at device=a" })
  testing.equal(judge(gb.expect.knee { x = "n", y = "examples_per_s" }, unreliable(rows("a", { 10, 95, 100 }), 1)),
    "inconclusive")
  testing.equal(judge(gb.expect.ratio { y = "step_time_s", of = { n = 2 }, over = { n = 1 }, at_most = 1 },
    unreliable(rows("a", { 10, 20 }), 1)), "inconclusive")
end)

testing.case("unreliable rows refute nothing, and save nothing that sound rows refute", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s" }
  testing.equal(judge(claim, unreliable(rows("a", { 10, 20, 5 }), 3)), "inconclusive")
  testing.equal(judge(claim, unreliable(rows("a", { 20, 10, 30 }), 3)), "refuted")
end)

testing.case("rows that a claim is not about do not matter to it", function()
  local list = unreliable(rows("a", { 10, 20, 30 }), 3)
  testing.equal(judge(gb.expect.increasing { x = "n", y = "examples_per_s", to = 2 }, list), "confirmed")
  testing.equal(judge(gb.expect.ratio { y = "step_time_s", of = { n = 2 }, over = { n = 1 }, at_most = 1 },
    list), "confirmed")
end)

testing.case("noise in times says nothing about bytes, counts and accuracies, nor the other way round", function()
  local list = unreliable(rows("a", { 10, 10 }), 1, 2)
  for _, row in ipairs(list) do
    row.accuracy, row.accuracy_low, row.accuracy_high, row.kernels, row.peak_memory_bytes = 0.5, 0.5, 0.5, 2, 3
  end
  local function equal(column) return (judge(gb.expect.equal { x = "n", y = column, tolerance = 0.1 }, list)) end
  testing.equal({ equal "accuracy", equal "kernels", equal "peak_memory_bytes", equal "examples_per_s" },
    { "confirmed", "confirmed", "confirmed", "inconclusive" })
  for _, row in ipairs(list) do row.quality, row.memory_quality = "ok", "unreliable: 1 KiB of cpu:0 still in use" end
  testing.equal({ equal "peak_memory_bytes", equal "examples_per_s" }, { "inconclusive", "confirmed" })
end)

testing.case("a figure that came once decides nothing where it depends on time or seed", function()
  local list = { { status = "ok", n = 1, fit_s = 1, test_accuracy = 0.5 },
    { status = "ok", n = 2, fit_s = 9, test_accuracy = 0.9 } }
  for column, why in pairs { fit_s = "it was measured once", test_accuracy = "one training" } do
    local verdict, reason = judge(gb.expect.increasing { x = "n", y = column }, list)
    testing.equal(verdict, "inconclusive")
    testing.contains(reason, why)
  end
end)

testing.case("points that were never measured leave a claim open, unless what was measured refutes it", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s" }
  local function judged(list, ...)
    return claims.judge_all({ claim }, list, axes, { ... })[1]
  end
  local last, b = { device = "a", n = 4 }, { device = "b", n = 1 }
  local one = judged(rows("a", { 10, 20 }), last, b)
  testing.equal({ one.verdict, one.kind, one.reason }, { "inconclusive", "unfinished",
    "2 points were not measured; so far: rises from 10/s to 20/s between n 1 and 2 at device=a" })
  testing.equal(one.remedy, "run it to its end")
  testing.equal(judged(rows("a", { 10, 20 }), last).reason,
    "1 point was not measured; so far: rises from 10/s to 20/s between n 1 and 2 at device=a")
  one = judged(rows("a", { 10 }), last)
  testing.equal({ one.verdict, one.reason },
    { "inconclusive", "1 point was not measured; so far: fewer than two values of n at device=a" })
  testing.equal(judged({}, last).verdict, "inconclusive")
  testing.equal(judged(rows("a", { 20, 10 }), last).verdict, "refuted")
  claim = gb.expect.increasing { x = "n", y = "examples_per_s", where = { device = "a" }, to = 2 }
  testing.equal(judged(rows("a", { 10, 20 }), last, b).verdict, "confirmed")
end)

testing.case("rounds that were stopped refute where a figure is of no known kind, and confirm nothing", function()
  local function judged(column, values)
    local list = {}
    for index, value in ipairs(values) do
      list[index] = {
        status = "ok", device = "a", n = 2 ^ (index - 1) // 1 | 0, [column] = value,
        quality = "unreliable: 1 of 9 rounds",
        doubt = "unfinished",
      }
    end
    local one = claims.judge_all({ gb.expect.increasing { x = "n", y = column } }, list, axes)[1]
    return { one.verdict, one.kind }
  end
  testing.equal(judged("parts", { 9, 8 }), { "refuted" })
  testing.equal(judged("parts", { 8, 9 }), { "inconclusive", "unfinished" })
  testing.equal(judged("work_s", { 9, 8 }), { "inconclusive", "unfinished" })
end)

testing.case("best: is open without the value, without others, and without sound rows", function()
  local claim = gb.expect.best { x = "n", y = "examples_per_s", value = 4, tolerance = 0.05 }
  local verdict, reason = judge(claim, rows("a", { 50, 100 }))
  testing.equal({ verdict, reason }, { "not measurable here", "no examples_per_s at n 4 at device=a" })
  verdict, reason = judge(gb.expect.best { x = "n", y = "examples_per_s", value = 1, tolerance = 0.05 },
    rows("a", { 50 }))
  testing.equal({ verdict, reason }, { "not measurable here", "no other value of n at device=a" })
  testing.equal(judge(claim, unreliable(rows("a", { 50, 100, 110 }), 2)), "inconclusive")
  testing.raises("gb.expect.best: option 'tolerance' is required", gb.expect.best, { x = "n", y = "b", value = 1 })
end)

testing.case("a failed row lacks columns that `where` names, and is missed all the same", function()
  local list = rows("a", { 10, 20, 30 })
  for _, row in ipairs(list) do row.measured = "steps" end
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s", where = { measured = "steps" } }
  testing.equal(judge(claim, list), "confirmed")
  list[2] = failed("a", 2, "error")
  testing.equal(judge(claim, list), "inconclusive")
  list[2] = { status = "ok", device = "a", n = 2, examples_per_s = 1 }  -- of another kind
  testing.equal(judge(claim, list), "confirmed")
end)

testing.case("a ratio of which one side was skipped cannot be measured, however sound the other is", function()
  local skipped = { status = "skipped", detail = "there is no a here", device = "a", n = 1 }
  local b = rows("b", { 1, 2, 3 })
  b[2].quality = "unreliable: noise"
  for _, name in ipairs { "crossover", "decreasing" } do
    local claim = gb.expect[name] { x = "n", y = "step_time_s", of = { device = "a" }, over = { device = "b" } }
    testing.equal({ judge(claim, { skipped }, b) }, { "not measurable here", "skipped: there is no a here" })
  end
end)
