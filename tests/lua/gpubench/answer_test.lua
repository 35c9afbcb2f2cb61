-- What claims and experiments answer, in words.
local gb = require "gpubench"
local answer = require "gpubench.expect.answer"
local claims = require "gpubench.expect.claim"
local testing = require "testing"

local axes = { gb.axis("device", { "a", "b" }), gb.axis("n", { 1, 2, 4, 8 }), gb.axis("way", { "loop", "graph" }) }

-- Rates with an interval of 10 % to either side.
local function rows(device, rates, way)
  local list = {}
  for index, rate in ipairs(rates) do
    list[index] = {
      status = "ok", device = device, n = math.tointeger(2 ^ (index - 1)), way = way or "graph", examples_per_s = rate,
      examples_low_per_s = rate * 0.9, examples_high_per_s = rate * 1.1,
    }
  end
  return list
end

local function join(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  return all
end

local function answer_of(claim, ...)
  return claims.judge_all({ claim }, join(...), axes)[1].answer
end

local rising = { 10, 40, 80, 82 }

testing.case("a knee says from where on, how much it gains, and what is left", function()
  local claim = gb.expect.knee { x = "n", y = "examples_per_s" }
  testing.equal(answer_of(claim, rows("a", { 10, 40, 100, 101 })), "Open: " .. claim.text
    .. ": the intervals overlap: knee at n 4 with 100/s [90/s, 110/s]")
  local sharp = gb.expect.knee { x = "n", y = "examples_per_s", share = 0.5 }
  testing.equal(answer_of(sharp, rows("a", rising)),
    "N of 4 or more: 8 times [6.55, 9.78] the examples/s at 1; beyond it at most 100 % is gained")
end)

testing.case("placeholders are filled with what was found", function()
  local function ratio(text)
    return gb.expect.ratio {
      y = "examples_per_s", of = { way = "graph" }, over = { way = "loop" }, at_least = 1, where = { n = 1 }, answer = text,
    }
  end
  local of, over = rows("a", { 40 }), rows("a", { 10 }, "loop")
  testing.equal(answer_of(ratio "compile it: {times} ({of} against {over})", of, over),
    "Compile it: 4 times [3.27, 4.89] (40/s against 10/s)")
  testing.equal(answer_of(ratio "{more} more", of, over), "300 % [227, 389] more")
  testing.equal(answer_of(ratio "{inverse_times}", of, over), "0.25 times [0.205, 0.306]")
  local half = gb.expect.ratio {
    y = "examples_per_s", of = { way = "loop" }, over = { way = "graph" }, at_most = 1, answer = "{less} less",
  }
  testing.equal(answer_of(half, of, over), "75 % [69.4, 79.5] less")
end)

testing.case("several settings give a range", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 2, answer = "{times}, {over}",
  }
  testing.equal(answer_of(claim, rows("a", rising), rows("b", { 20, 40, 60, 61 })), "3 to 8 times, 10/s to 20/s")
  local knee = gb.expect.knee { x = "n", y = "examples_per_s", share = 0.5, answer = "use {x}, not {first}" }
  testing.equal(answer_of(knee, rows("a", rising), rows("b", { 20, 60, 61, 62 })), "Use 4 or 2, not 1")
end)

testing.case("a course, a best value and a bound have their figures", function()
  local course = { x = "n", y = "examples_per_s" }
  testing.equal(answer_of(gb.expect.increasing(course), rows("a", rising)),
    "Open: examples_per_s rises with n: the intervals overlap from 80/s [72/s, 88/s] to 82/s [73.8/s, 90.2/s] between n 4 and 8")
  testing.equal(answer_of(gb.expect.increasing { x = "n", y = "examples_per_s", to = 4 }, rows("a", rising)),
    "Examples/s goes from 10/s at n 1 to 80/s at 4")
  testing.equal(answer_of(gb.expect.best { x = "n", y = "examples_per_s", value = 4, tolerance = 0.5,
    answer = "n = {x}: {share} of {first}" }, rows("a", rising)), "N = 4: 97.6 % [79.8, 119] of 8")
  testing.equal(answer_of(gb.expect.at_least { y = "examples_per_s", value = 5, where = { n = 1 }, answer = "{of}" },
    rows("a", rising)), "10/s")
end)

testing.case("what does not hold, or stays open, is no answer with a gain", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 20, answer = "{times} faster",
  }
  testing.equal(answer_of(claim, rows("a", rising)),
    "Not so here: " .. claim.text .. ": the ratio is 8 [6.545, 9.778]")
  testing.equal(answer_of(claim, {}), "Not measurable here: " .. claim.text .. ": no point matches")
end)

testing.case("that: the judge gives the sentence", function()
  local function that(sentence)
    return gb.expect.that { claim = "c", judge = function() return "confirmed", "why", sentence end }
  end
  testing.equal(answer_of(that "use it", rows("a", rising)), "Use it")
  testing.equal(answer_of(that(nil), rows("a", rising)), "C: why")
  testing.equal(claims.judge_all({ that(3) }, {}, axes)[1].verdict, "inconclusive")
end)

testing.case("the headline is what the script gave an answer for, else the first claim with a gain", function()
  local plain = gb.expect.increasing { x = "n", y = "examples_per_s", to = 4 }
  local gain = gb.expect.ratio { y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 2 }
  local given = gb.expect.at_least { y = "examples_per_s", value = 5, where = { n = 1 }, answer = "at least {of}" }
  local function headlines(...)
    local list, texts = { ... }, {}
    for index, one in ipairs(answer.headlines(claims.judge_all(list, rows("a", rising), axes), list)) do
      texts[index] = one.answer
    end
    return texts
  end
  testing.equal(headlines(plain, gain), { "Examples/s with n=4 is 8 times [6.55, 9.78] that with n=1" })
  testing.equal(headlines(plain), { "Examples/s goes from 10/s at n 1 to 80/s at 4" })
  testing.equal(headlines(plain, gain, given), { "At least 10/s" })
  testing.equal(headlines(), {})
end)

testing.case("a placeholder that the claim does not find is an error before the first point", function()
  testing.raises("gb.expect.knee: option 'answer': there is no {tims} (known: {x}, {first}, {of}, {over}, {times}, "
    .. "{inverse_times}, {more}, {less}) (did you mean 'times'?)", gb.expect.knee,
    { x = "n", y = "examples_per_s", answer = "{tims}" })
  testing.raises("there is no {of} (known: none for this kind of claim)", gb.expect.agree,
    { y = "loss", with = "other_loss", answer = "{of}" })
  testing.raises("option 'answer': string expected, got number", gb.expect.knee, { x = "n", y = "y_s", answer = 3 })
end)

local count = 0
local function run(fields)
  count = count + 1
  local declaration = {
    name = "answer_test_" .. count, title = "t", axes = { gb.axis("n", { 1, 2 }) },
    columns = { gb.column("figure", { kind = "counted" }) },
    run = function(point) return { figure = 3 * point.n } end,
    expect = { gb.expect.increasing { x = "n", y = "figure" } },
  }
  for name, value in pairs(fields) do declaration[name] = value end
  gb.experiment(declaration)
  return gb._native.results.read(declaration.name, gb._native.options.out).info
end

testing.case("run.json has the question, what goes with it, and the answer", function()
  local info = run { question = "q?", cause = "c", remedy = "r", reading = "how" }
  testing.equal({ info.question, info.cause, info.remedy, info.reading }, { "q?", "c", "r", "how" })
  testing.equal(info.figures, { "figure" })
  testing.equal(info.answers, { { answer = "Figure goes from 3 at n 1 to 6 at 2", verdict = "confirmed" } })
  testing.equal(info.expectations[1].answer, "Figure goes from 3 at n 1 to 6 at 2")
end)

testing.case("a function may answer from the rows; one that fails costs nothing", function()
  testing.equal(run { answer = function(rows) return "twice is " .. rows[2].figure end }.answers[1].answer, "twice is 6")
  for _, wrong in ipairs { function() error "broken" end, function() return 7 end, function() end } do
    testing.equal(run { answer = wrong }.answers[1].answer, "Figure goes from 3 at n 1 to 6 at 2")
  end
  testing.equal(run({ expect = {} }).answers, nil)
  testing.equal(run({ run = function() error "no" end }).answers[1].verdict, "not measurable here")
end)

require("gpubench.experiment").status = 0  -- of the points that failed above
