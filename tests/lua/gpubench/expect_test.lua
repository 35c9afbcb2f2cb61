-- What each kind of claim says of rows that can be relied on.
local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local testing = require "testing"
local claim_rows = dofile "tests/lua/gpubench/claim_rows.lua"
local rows, judge, axes = claim_rows.of_rates, claim_rows.judge, claim_rows.axes

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

testing.case("knee: reaches a share of the best before the last x", function()
  local claim = gb.expect.knee { x = "n", y = "examples_per_s" }
  local verdict, reason = judge(claim, rows("a", { 10, 95, 100 }))
  testing.equal(verdict, "confirmed")
  testing.equal(reason, "knee at n 2 with 95/s; best 100/s at 4 at device=a")
  testing.equal(judge(claim, rows("a", { 10, 20, 40 })), "inconclusive")
  testing.equal(judge(claim, rows("a", { 10, 20 })), "not measurable here")
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
