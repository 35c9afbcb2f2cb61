local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local left_out = require "gpubench.expect.left_out"
local testing = require "testing"

local function split(list, axes, ...)
  local overrides = {}
  for _, name in ipairs { ... } do overrides[name] = {} end
  return left_out.split(list, axes, overrides)
end

local function texts(list)
  local all = {}
  for index, one in ipairs(list) do all[index] = one.text end
  return all
end

local knee = gb.expect.knee { x = "n", y = "examples_per_s" }
local ratio = gb.expect.ratio { y = "examples_per_s", of = { n = 64 }, over = { n = 1 }, at_least = 4 }
local compared = "examples_per_s of n=512 compared with that of n=8"

testing.case("claims about values that --set does not give are left out, and its ends are compared", function()
  local kept, text = split({ knee, ratio }, { gb.axis("n", { 8, 512 }) }, "n")
  testing.equal({ texts(kept), text },
    { { compared }, "2 claims are about other values of n than --set gives, and left out" })
  kept, text = split({ ratio }, { gb.axis("n", { 8 }) }, "n")
  testing.equal({ texts(kept), text }, { {}, "1 claim is about other values of n than --set gives, and left out" })
end)

testing.case("claims that fit are judged, and axes without --set leave none out", function()
  local list = { knee, ratio }
  testing.equal({ split(list, { gb.axis("n", { 8, 512 }) }) }, { list })
  testing.equal({ split(list, { gb.axis("n", { 1, 8, 64 }) }, "n") }, { list })
  local other = gb.expect.at_least { y = "examples_per_s", value = 1, where = { way = "eager" } }
  testing.equal({ split({ other }, { gb.axis("n", { 8 }), gb.axis("way", { "eager", "graph" }) }, "n") }, { { other } })
end)

testing.case("each kind of claim says which values it needs", function()
  local function is_left_out(claim, values) return #split({ claim }, { gb.axis("n", values) }, "n") == 0 or nil end
  local y = "work_s"
  local by_kind = {
    { gb.expect.increasing { x = "n", y = y, to = 4 }, { 1, 4 }, { 4 } },
    { gb.expect.decreasing { x = "n", y = y, from = 4 }, { 4, 8 }, { 8 } },
    { gb.expect.equal { x = "n", y = y, tolerance = 0.1 }, { 1, 2 }, { 1 } },
    { gb.expect.best { x = "n", y = y, value = 2, tolerance = 0.1 }, { 1, 2 }, { 2 } },
    { gb.expect.faster { axis = "n", value = 2, than = 1, y = y }, { 1, 2 }, { 1 } },
    { gb.expect.at_most { y = y, value = 1, where = { n = 2 } }, { 2 }, { 1 } },
    { gb.expect.that { claim = "c", judge = function() end, axes = { "m" } }, { 1 }, nil },
    { gb.expect.that { claim = "c", judge = function() end, axes = { "n" } }, nil, { 1 } },
  }
  for index, one in ipairs(by_kind) do
    if one[2] then testing.equal({ index, is_left_out(one[1], one[2]) }, { index }) end
    if one[3] then testing.equal({ index, is_left_out(one[1], one[3]) }, { index, true }) end
  end
  -- The best of others takes an own value too.
  testing.equal(texts(split({ by_kind[4][1] }, { gb.axis("n", { 1, 4 }) }, "n")),
    { "work_s of n=4 compared with that of n=1" })
end)

testing.case("the comparison says how many times the last value's figure is the first one's", function()
  local axes = { gb.axis("n", { 8, 512 }) }
  local kept = split({ knee }, axes, "n")
  local function judged(rate, off)
    local rows = {}
    for index, value in ipairs { 10, rate } do
      rows[index] = {
        status = "ok", n = axes[1].values[index], examples_per_s = value, examples_low_per_s = value * (1 - off),
        examples_high_per_s = value * (1 + off),
      }
    end
    local one = claims.judge_all(kept, rows, axes)[1]
    return { one.verdict, one.answer }
  end
  testing.equal(judged(40, 0), { "confirmed", "Examples/s with n 512 is 4 times that with n 8" })
  testing.equal(judged(5, 0), { "confirmed", "Examples/s with n 512 is 0.5 times that with n 8" })
  testing.equal(judged(11, 0.2), { "inconclusive", "Open: examples/s with n 512 compared with that with n 8 "
    .. "(not proven: about 1.1 times): the difference is smaller than the scatter; a larger "
      .. "--budget narrows the intervals" })
end)

testing.case("axes of gb.expect.that are axes of the experiment", function()
  testing.raises("option 'axes': there is no axis 'm' (axes: n)", claims.check,
    { gb.expect.that { claim = "c", judge = function() end, axes = { "m" } } }, { gb.axis("n", { 1 }) })
  testing.raises("gb.expect.that: option 'axes': axis 1: string expected, got number", gb.expect.that,
    { claim = "c", judge = function() end, axes = { 1 } })
end)
