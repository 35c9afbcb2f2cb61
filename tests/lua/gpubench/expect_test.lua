local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local testing = require "testing"

local axes = { gb.axis("device", { "a", "b" }), gb.axis("n", { 1, 2, 4 }) }

-- One row per figure; `relative_error` is the half-width of the step time's interval, whose ends are those of the rate.
local function rows(device, rates, relative_error)
  local list = {}
  for index, rate in ipairs(rates) do
    local n, time, off = 2 ^ (index - 1) // 1, 1 / rate, relative_error or 0
    list[index] = {
      status = "ok", device = device, n = math.tointeger(n), examples_per_s = rate, step_time_s = time,
      step_time_low_s = time * (1 - off), step_time_high_s = time * (1 + off),
      examples_low_per_s = rate / (1 + off), examples_high_per_s = rate / (1 - off),
    }
  end
  return list
end

local function judge(claim, ...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  local one = claims.judge_all({ claim }, all, axes)[1]
  return one.verdict, one.reason
end

testing.case("increasing: every step beyond the intervals", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s", by = "device" }
  testing.equal(judge(claim, rows("a", { 10, 20, 30 }, 0.01)), "confirmed")
  testing.equal(judge(claim, rows("a", { 10, 20, 20.1 }, 0.05)), "inconclusive")
  testing.equal(judge(claim, rows("a", { 10, 20, 15 }, 0.01)), "refuted")
  local verdict, reason = judge(claim, rows("a", { 10, 20, 30 }), rows("b", { 10, 5, 3 }))
  testing.equal(verdict, "refuted")
  testing.equal(reason, "falls from 10/s to 5/s between n 1 and 2 at device=b")
end)

testing.case("increasing with a tolerance: rises as a whole", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s", tolerance = 0.1 }
  testing.equal(judge(claim, rows("a", { 10, 20, 19 })), "confirmed")
  testing.equal(judge(claim, rows("a", { 10, 20, 17 })), "refuted")
  testing.equal(judge(claim, rows("a", { 10, 11, 10 }, 0.2)), "inconclusive")
end)

testing.case("increasing within a range of x", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s", to = 2 }
  testing.equal(claim.text, "examples_per_s rises with n up to 2")
  testing.equal(gb.expect.decreasing { x = "n", y = "loss", from = 2, to = 8 }.text, "loss falls with n from 2 to 8")
  testing.equal(judge(claim, rows("a", { 10, 20, 5 })), "confirmed")
end)

testing.case("increasing until the knee", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s", until_knee = true }
  testing.equal(claim.text, "examples_per_s rises with n until the knee")
  testing.equal(judge(claim, rows("a", { 10, 20, 19 })), "confirmed")
  testing.equal(judge(claim, rows("a", { 20, 19, 5 })), "inconclusive")
  testing.equal(judge(claim, rows("a", { 10, 8, 20 })), "refuted")
end)

testing.case("decreasing mirrors increasing", function()
  local claim = gb.expect.decreasing { x = "n", y = "step_time_s" }
  testing.equal(judge(claim, rows("a", { 10, 20, 30 })), "confirmed")
  testing.equal(judge(claim, rows("a", { 10, 20, 15 })), "refuted")
end)

testing.case("an axis of names has the order of its values", function()
  local claim = gb.expect.increasing { x = "device", y = "examples_per_s" }
  testing.equal(judge(claim, rows("b", { 20 }), rows("a", { 10 })), "confirmed")
end)

testing.case("an axis of numbers and names keeps the order of its values too", function()
  local list = rows("a", { 10, 20, 30 })
  for index, n in ipairs { 1, 8, "auto" } do list[index].n = n end
  local mixed = { axes[1], gb.axis("n", { 1, 8, "auto" }) }
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s" }
  testing.equal(claims.judge_all({ claim }, { list[3], list[2], list[1] }, mixed)[1].verdict, "confirmed")
end)

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

testing.case("knee: reaches a share of the best before the last x", function()
  local claim = gb.expect.knee { x = "n", y = "examples_per_s" }
  local verdict, reason = judge(claim, rows("a", { 10, 95, 100 }))
  testing.equal(verdict, "confirmed")
  testing.equal(reason, "knee at n 2 with 95/s; best 100/s at 4 at device=a")
  testing.equal(judge(claim, rows("a", { 10, 20, 40 })), "inconclusive")
  testing.equal(judge(claim, rows("a", { 10, 20 })), "not measurable here")
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

testing.case("the course of a ratio, with the intervals of both rows", function()
  local claim = gb.expect.decreasing {
    x = "n", y = "step_time_s", of = { device = "a" }, over = { device = "b" }, tolerance = 0.05,
  }
  testing.equal(claim.text, "step_time_s of device=a over that of device=b falls with n")
  local verdict, reason = judge(claim, rows("a", { 1, 1, 1 }), rows("b", { 4, 2, 1 }))
  testing.equal({ verdict, reason }, { "confirmed", "falls from 4 to 1 between n 1 and 4" })
  testing.equal(judge(claim, rows("a", { 1, 1, 1 }), rows("b", { 1, 2, 4 })), "refuted")
  testing.equal(judge(claim, rows("a", { 1, 1, 1 }, 0.3), rows("b", { 1.2, 1.1, 1 }, 0.3)), "inconclusive")
  testing.equal(judge(claim, rows("a", { 1, 1, 1 })), "not measurable here")
  testing.raises("gb.expect.decreasing: option 'over' is required with 'of'", gb.expect.decreasing,
    { x = "n", y = "loss", of = { device = "a" } })
end)

testing.case("a knee needs a figure that surely reaches the share", function()
  local claim = gb.expect.knee { x = "n", y = "examples_per_s" }
  testing.equal(judge(claim, rows("a", { 10, 91, 100 }, 0.01)), "inconclusive")
  testing.equal(judge(claim, rows("a", { 10, 95, 100 }, 0.01)), "confirmed")
end)

testing.case("bounds", function()
  testing.equal(judge(gb.expect.at_least { y = "examples_per_s", value = 5 }, rows("a", { 10, 20 })), "confirmed")
  testing.equal(judge(gb.expect.at_least { y = "examples_per_s", value = 15 }, rows("a", { 10, 20 })), "refuted")
  testing.equal(judge(gb.expect.at_least { y = "examples_per_s", value = 10 }, rows("a", { 10 }, 0.1)), "inconclusive")
  testing.equal(judge(gb.expect.at_most { y = "examples_per_s", value = 30 }, rows("a", { 10, 20 })), "confirmed")
end)

testing.case("ratio of two rows", function()
  local function claim(least)
    return gb.expect.ratio { y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = least }
  end
  testing.equal(judge(claim(2.5), rows("a", { 10, 20, 30 }, 0.01)), "confirmed")
  testing.equal(judge(claim(3), rows("a", { 10, 20, 30 }, 0.01)), "inconclusive")
  testing.equal(judge(claim(3.5), rows("a", { 10, 20, 30 }, 0.01)), "refuted")
  testing.equal(judge(claim(1), rows("a", { 10, 20 })), "not measurable here")
end)

testing.case("faster: times lower, rates higher", function()
  local time = gb.expect.faster { axis = "n", value = 4, than = 1, y = "step_time_s" }
  testing.equal(judge(time, rows("a", { 10, 20, 30 }, 0.01)), "confirmed")
  testing.equal(judge(time, rows("a", { 30, 20, 10 }, 0.01)), "refuted")
  local rate = gb.expect.faster { axis = "n", value = 4, than = 1, y = "examples_per_s", factor = 2 }
  testing.equal(judge(rate, rows("a", { 10, 20, 30 }, 0.01)), "confirmed")
  testing.equal(rate.text, "n=4 is at least 2 times faster than 1 by examples_per_s")
end)

testing.case("equal within a tolerance", function()
  local claim = gb.expect.equal { x = "n", y = "examples_per_s", tolerance = 0.05 }
  testing.equal(judge(claim, rows("a", { 100, 101, 102 })), "confirmed")
  testing.equal(judge(claim, rows("a", { 100, 101, 120 })), "refuted")
  testing.equal(judge(claim, rows("a", { 100, 104, 104 }, 0.02)), "inconclusive")
end)

testing.case("equal: a figure that is the same everywhere is told with all its places", function()
  local claim = gb.expect.equal { x = "n", y = "examples_per_s", tolerance = 0.05 }
  local _, reason = judge(claim, rows("a", { 100, 100, 100 }))
  testing.equal(reason, "100/s at n 1, 2 and 4 at device=a")
  _, reason = judge(claim, rows("a", { 100, 101, 102 }))
  testing.equal(reason, "100/s at n 1, 102/s at 4 at device=a")
end)

testing.case("best: one value comes close to every other", function()
  local claim = gb.expect.best { x = "n", y = "examples_per_s", value = 4, tolerance = 0.05 }
  testing.equal(claim.text, "examples_per_s at n=4 is within 5 % of the best n")
  testing.equal({ judge(claim, rows("a", { 50, 100, 96 })) },
    { "confirmed", "96/s at n 4, 100/s at 2: 0.96 of it at device=a" })
  testing.equal(judge(claim, rows("a", { 50, 100, 90 })), "refuted")
  testing.equal(judge(claim, rows("a", { 50, 100, 96 }, 0.02)), "inconclusive")
  testing.equal(judge(claim, rows("a", { 50, 100, 93 }, 0.02)), "inconclusive")
  testing.equal(judge(claim, rows("a", { 50, 100, 110 }, 0.02)), "confirmed")
  -- A time is better lower.
  local time = gb.expect.best { x = "n", y = "step_time_s", value = 4, tolerance = 0.05 }
  testing.equal(judge(time, rows("a", { 50, 100, 96 })), "confirmed")
  testing.equal(judge(time, rows("a", { 50, 100, 90 })), "refuted")
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

testing.case("agree: two columns of the same row", function()
  local claim = gb.expect.agree { y = "listed", with = "visible" }
  testing.equal(claim.text, "listed equals visible")
  local function counted(...)
    local list = {}
    for index, listed in ipairs { ... } do
      list[index] = { status = "ok", device = "a", n = 2 ^ (index - 1) // 1, listed = listed, visible = 3 }
    end
    return list
  end
  testing.equal({ judge(claim, counted(3)) }, { "confirmed", "listed is 3, visible is 3 at device=a n=1.0" })
  testing.equal({ judge(claim, counted(3, 2)) }, { "refuted", "listed is 2, visible is 3 at device=a n=2.0" })
  testing.equal(judge(gb.expect.agree { y = "listed", with = "visible", tolerance = 0.5 }, counted(3, 2)), "confirmed")
  testing.equal({ judge(gb.expect.agree { y = "listed", with = "nothing" }, counted(3)) },
    { "inconclusive", "a row has no nothing at device=a n=1.0" })
  testing.equal(judge(gb.expect.agree { y = "step_time_s", with = "examples_per_s" }, rows("a", { 1 }, 0.1)),
    "inconclusive")
end)

testing.case("crossover: between the last x surely above and the first surely below", function()
  local claim = gb.expect.crossover { x = "n", y = "step_time_s", of = { device = "a" }, over = { device = "b" } }
  testing.equal(claim.text, "step_time_s of device=a falls below that of device=b as n rises")
  local function judged(rates, error)
    return judge(claim, rows("a", rates, error), rows("b", { 100, 50, 25 }, error))
  end
  testing.equal({ judged { 50, 50, 50 } }, { "confirmed", "between n 1 and 4: ratio 2 at n 1, 0.5 at n 4" })
  testing.equal({ judged({ 50, 100, 100 }, 0) }, { "confirmed", "between n 1 and 2: ratio 2 at n 1, 0.5 at n 2" })
  testing.equal({ judged { 200, 100, 50 } }, { "refuted", "below at the smallest n already: ratio 0.5 at n 1" })
  testing.equal({ judged { 50, 100, 12.5 } }, { "refuted", "crosses more than once: ratio 0.5 at n 2, 2 at n 4" })
  testing.equal({ judged { 50, 25, 12.5 } }, { "inconclusive", "not below up to the largest n: ratio 2 at n 4" })
  testing.equal(judged({ 95, 100, 100 }, 0.1), "inconclusive")
  testing.equal(judge(claim, rows("b", { 1, 2, 3 })), "not measurable here")
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

-- Rows of a script's own columns: `xs` and the figures 1, 2, 3, ... or those given.
local function own_rows(xs, figures)
  local list = {}
  for index, x in ipairs(xs) do
    list[index] = { status = "ok", n = 1, x = x, size_bytes = figures and figures[index] or index }
  end
  return list
end

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

testing.case("a claim about a figure that is no number is refuted, of others it is not", function()
  for _, value in ipairs { 0 / 0, math.huge, -math.huge } do
    local list = rows("a", { 10, 20, 30 }, 0.01)
    for index, row in ipairs(list) do row.loss = index == 3 and value or 1.0 / index end
    for _, claim in ipairs { gb.expect.at_most { y = "loss", value = 10 },
      gb.expect.at_least { y = "loss", value = -10 },
      gb.expect.decreasing { x = "n", y = "loss" }, gb.expect.increasing { x = "n", y = "loss" },
      gb.expect.ratio { y = "loss", of = { n = 4 }, over = { n = 1 }, at_most = 10 } } do
      local verdict, reason = judge(claim, list)
      testing.equal(verdict, "refuted", claim.text)
      testing.contains(reason, value ~= value and "loss is NaN" or "infinite")
    end
    testing.equal(judge(gb.expect.increasing { x = "n", y = "examples_per_s" }, list), "confirmed")
  end
end)
