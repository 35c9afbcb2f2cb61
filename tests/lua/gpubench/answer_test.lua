-- What claims and experiments answer, in words.
local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local headlines = require "gpubench.expect.headlines"
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
  testing.equal(answer_of(claim, rows("a", { 10, 40, 100, 101 })), "Open: examples/s reaches 90 % of its best before "
    .. "the last n (not proven: about 10 times): the difference is smaller than the scatter; a larger "
      .. "--budget narrows the intervals")
  local sharp = gb.expect.knee { x = "n", y = "examples_per_s", share = 0.5 }
  testing.equal(answer_of(sharp, rows("a", rising)),
    "N of 4 or more: 8 times [6.55, 9.78] the examples/s at 1; beyond it at most 100 % is gained")
end)

testing.case("placeholders are filled with what was found", function()
  local function ratio(text)
    return gb.expect.ratio {
      y = "examples_per_s", of = { way = "graph" }, over = { way = "loop" }, at_least = 1, where = { n = 1 },
      answer = text,
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

testing.case("what is faster is more than 1 times as fast, by times as by rates", function()
  local function faster(text, y)
    return gb.expect.faster { axis = "way", value = "graph", than = "loop", y = y, factor = 1.5, where = { n = 1 },
      answer = text }
  end
  local fast, slow = rows("a", { 40 }), rows("a", { 10 }, "loop")
  testing.equal(answer_of(faster("{times}, {more} more, {less} less", "examples_per_s"), fast, slow),
    "4 times [3.27, 4.89], 300 % [227, 389] more, 75 % [69.4, 79.5] less")
  for _, list in ipairs { fast, slow } do
    list[1].step_time_s, list[1].step_time_low_s, list[1].step_time_high_s = 1, 0.9, 1.1
  end
  slow[1].step_time_s, slow[1].step_time_low_s, slow[1].step_time_high_s = 2, 1.8, 2.2
  testing.equal(answer_of(faster("{times}, {less} less", "step_time_s"), fast, slow),
    "2 times [1.64, 2.44], 50 % [38.9, 59.1] less")
end)

testing.case("a span over several settings names those at its ends, so that it is no interval", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 2, answer = "{times}, {over}",
  }
  testing.equal(answer_of(claim, rows("a", rising), rows("b", { 20, 40, 60, 61 })),
    "From 3 times [2.45, 3.67] (device b) to 8 times [6.55, 9.78] (device a), from 10/s (device a) to 20/s (device b)")
  testing.equal(answer_of(claim, rows("a", rising), rows("b", rising)), "8 times [6.55, 9.78], 10/s")
  local knee = gb.expect.knee { x = "n", y = "examples_per_s", share = 0.5, answer = "use {x}, not {first}" }
  testing.equal(answer_of(knee, rows("a", rising), rows("b", { 20, 60, 61, 62 })),
    "Use 4 (device a) or 2 (device b), not 1")
end)

testing.case("a course, a best value and a bound have their figures", function()
  local course = { x = "n", y = "examples_per_s" }
  testing.equal(answer_of(gb.expect.increasing(course), rows("a", rising)),
    "Open: examples/s rises with n (not proven: about 8.2 times): the difference is smaller than the "
      .. "scatter; a larger --budget narrows the intervals")
  testing.equal(answer_of(gb.expect.increasing { x = "n", y = "examples_per_s", to = 4 }, rows("a", rising)),
    "Examples/s goes from 10/s at n 1 to 80/s at 4")
  local steps = gb.expect.increasing {
    x = "n", y = "examples_per_s", to = 4, tolerance = 0.5, answer = "each: {steps}",
  }
  testing.equal(answer_of(steps, rows("a", rising)), "Each: 4 times by n 2, 2 times by n 4")
  testing.equal(answer_of(steps, rows("a", rising), rows("b", { 20, 21, 40, 41 })),
    "Each: with device a 4 times by n 2, 2 times by n 4; with device b 1.05 times [0.859, 1.28] by n 2, "
      .. "1.9 times by n 4")
  testing.equal(answer_of(gb.expect.best { x = "n", y = "examples_per_s", value = 4, tolerance = 0.5,
    answer = "n = {x}: {share} of {first}" }, rows("a", rising)), "N = 4: 97.6 % [79.8, 119] of 8")
  testing.equal(answer_of(gb.expect.at_least { y = "examples_per_s", value = 5, where = { n = 1 }, answer = "{of}" },
    rows("a", rising)), "10/s [9/s, 11/s]")
end)

testing.case("a span names no axis along which the figure stays the same", function()
  local list = {}
  for _, device in ipairs { "a", "b" } do
    for _, n in ipairs { 1, 2 } do
      list[#list + 1] = { status = "ok", device = device, n = n, way = "graph", kernels = device == "a" and 3 or 6 }
      list[#list + 1] = { status = "ok", device = device, n = n, way = "loop", kernels = 12 }
    end
  end
  local claim = gb.expect.ratio {
    y = "kernels", of = { way = "graph" }, over = { way = "loop" }, at_most = 1, answer = "{less} fewer",
  }
  testing.equal(answer_of(claim, list), "From 50 % (device b) to 75 % (device a) fewer")
end)

testing.case("an interval that ends at its median says that many rounds gave the same", function()
  local estimate = require "gpubench.expect.estimate"
  local list = join(rows("a", { 10 }, "loop"), rows("a", { 10 }))
  for index, values in ipairs { { 100, 100, 100, 100, 100, 100, 100 }, { 70, 95, 95, 95, 95, 95, 70 } } do
    local all = {}
    for round, value in ipairs(values) do all[round] = { row = { used_bytes = value }, counts = true } end
    list[index].used_bytes = 95
    estimate.set_rounds(list[index], { rounds = all })
  end
  local claim = gb.expect.ratio {
    y = "used_bytes", of = { way = "graph" }, over = { way = "loop" }, at_most = 1, answer = "{less}",
  }
  testing.equal(answer_of(claim, list), "5 % [5, 30; most rounds gave 5]")
end)

testing.case("what does not hold, or stays open, is no answer with a gain", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 20, answer = "{times} faster",
  }
  testing.equal(answer_of(claim, rows("a", rising)), "Not so here: examples/s of n 4 is at least 20 times that of n 1: "
    .. "examples/s with n 4 is 8 times [6.55, 9.78] that with n 1")
  testing.equal(answer_of(claim, {}), "Not measurable here: examples/s of n 4 is at least 20 times that of n 1: no "
    .. "point matches")
end)

local busy = { kind = "busy", text = "other programs took 27 % of the processor time that it wanted" }

local function unreliable(list, doubt)
  for _, row in ipairs(list) do row.quality, row.doubt = "unreliable: " .. doubt.text, doubt.kind end
  return list
end

testing.case("the largest and the smallest figure of all settings", function()
  local claim = gb.expect.at_most { y = "examples_per_s", value = 100, where = { n = 1 }, answer = "{least}, {most}" }
  testing.equal(answer_of(claim, rows("a", { 10 }), rows("b", { 20 })), "10/s [9/s, 11/s], 20/s [18/s, 22/s]")
end)

testing.case("a ratio whose interval holds its bound says what it came to", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 8, claim = "4 is better",
  }
  testing.equal(answer_of(claim, rows("a", rising)), "Open: 4 is better: examples/s with n 4 is 8 times [6.55, 9.78] "
    .. "that with n 1; a larger --budget narrows the interval")
end)

testing.case("an open claim says in plain words what kept it open, and what to do", function()
  local claim = gb.expect.increasing { x = "n", y = "examples_per_s", claim = "it rises" }
  local function open(kind)
    return answer_of(claim, unreliable(rows("a", rising), { kind = kind, text = "x" }))
  end
  testing.equal(open "busy", "Open: it rises (not proven: about 8.2 times): other programs used the processors while "
    .. "it was measured; repeat the run on an idle machine, or with --wait-idle 600")
  testing.equal(open "too_long", "Open: it rises (not proven: about 8.2 times): too few of its rounds fit into the "
    .. "time for a point; repeat the run with a larger --budget")
  testing.equal(open "scatter", "Open: it rises (not proven: about 8.2 times): its times scatter too much; repeat the "
    .. "run with a larger --budget, on an idle machine")
  testing.equal(open "unknown",
    "Open: it rises (not proven: about 8.2 times): 4 of 4 rows unreliable: x with device a, way graph")
  testing.equal(open(nil), open "unknown")
end)

testing.case("what holds in some settings is answered for these", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 2, answer = "use 4: {times}",
    claim = "4 is better",
  }
  local list = join(rows("a", rising), unreliable(rows("b", rising), busy))
  local judged = claims.judge_all({ claim }, list, axes)
  testing.equal(judged[1].verdict, "inconclusive")
  local lines = headlines.of(judged, { claim })
  testing.equal(lines[1], { answer = "With device a only: use 4: 8 times [6.55, 9.78]", verdict = "confirmed" })
  testing.equal(lines[2].verdict, "inconclusive")
  testing.equal(#lines, 2)
end)

testing.case("settings that have no value in common are counted", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { way = "graph" }, over = { way = "loop" }, at_least = 2, answer = "compile: {times}",
  }
  local graph, slow = join(rows("a", { 40, 40 }), rows("b", { 40, 40 })),
    join(rows("a", { 10, 10 }, "loop"), rows("b", { 10, 10 }, "loop"))
  unreliable({ graph[4] }, busy)
  local judged = claims.judge_all({ claim }, join(graph, slow), axes)
  testing.equal(judged[1].partly, "In 3 of 4 cases only: compile: 4 times [3.27, 4.89]")
end)

testing.case("what the settings of an answer have in common is named", function()
  local claim = gb.expect.ratio {
    y = "examples_per_s", of = { n = 4 }, over = { n = 1 }, at_least = 2, answer = "Use 4: {times}",
  }
  local list = join(rows("a", rising, "loop"), rows("a", rising, "graph"),
    unreliable(rows("a", rising, "compiled"), busy),
    unreliable(rows("b", rising, "loop"), busy))
  local three_ways = { axes[1], axes[2], gb.axis("way", { "loop", "graph", "compiled" }) }
  testing.equal(claims.judge_all({ claim }, list, three_ways)[1].partly,
    "In 2 of 4 cases (device a) only: use 4: 8 times [6.55, 9.78]")
end)

testing.case("a figure's setting names every axis where fewer would fit another figure too", function()
  local claim = gb.expect.at_most { y = "examples_per_s", value = 100, answer = "{of}" }
  testing.equal(answer_of(claim, rows("a", { 10 }, "graph"), rows("b", { 20 }, "graph"),
    { rows("a", { 15, 30 }, "loop")[2] }),
    "From 10/s [9/s, 11/s] (device a, n 1, way graph) to 30/s [27/s, 33/s] (device a, n 2, way loop)")
end)

testing.case("claims that one reason keeps open are one sentence, and each that does not hold is one", function()
  local function claim(text, least, where)
    return gb.expect.at_least { y = "examples_per_s", value = least, claim = text, where = where }
  end
  local list = { claim("first", 1, { n = 1 }), claim("second", 1, { n = 1 }), claim("third", 1e6, { n = 2 }) }
  local data = rows("a", rising)
  unreliable({ data[1] }, busy)
  local judged = claims.judge_all(list, data, axes)
  local lines = headlines.of(judged, list)
  testing.equal(lines[1].verdict, "refuted")
  testing.contains(lines[1].answer, "Not so here: third: examples/s is 40/s [36/s, 44/s], the bound 1 M/s")
  testing.equal(lines[2].answer,
    'Open: "first" (not proven: about 10/s) and "second" (not proven: about 10/s): other programs used the '
      .. "processors while it was measured; repeat the run on an idle machine, or with --wait-idle 600")
  testing.equal(headlines.of(judged, list, { "do it", "or that" })[1], { answer = "do it", verdict = "" })
end)

testing.case("where the first answer is open, no other one stands in its place", function()
  local main = gb.expect.at_least { y = "examples_per_s", value = 1, claim = "main", answer = "do {of}",
    where = { n = 1 } }
  local other = gb.expect.at_least { y = "examples_per_s", value = 1, claim = "c", answer = "also {of}",
    where = { n = 2 } }
  local data = rows("a", rising)
  local function first()
    return headlines.of(claims.judge_all({ main, other }, data, axes), { main, other })[1].answer
  end
  testing.equal(first(), "Do 10/s [9/s, 11/s]")
  unreliable({ data[1] }, busy)
  testing.contains(first(), "Open: main (not proven: about 10/s): ")
  local function gain_of(y)
    local gain = gb.expect.ratio {
      y = y, of = { n = 4 }, over = { n = 2 }, at_least = 1, claim = "more", answer = "take 4: {times}",
    }
    for _, row in ipairs(data) do row.kernels = row.n end
    return headlines.of(claims.judge_all({ main, gain }, data, axes), { main, gain })[1].answer
  end
  testing.contains(gain_of "examples_per_s", "Take 4: 2 times")
  testing.contains(gain_of "kernels", "Open: main (not proven: about 10/s): ")
end)

testing.case("the warning of a busy machine says how many claims stay open because of it", function()
  local claim = gb.expect.at_least { y = "examples_per_s", value = 1, claim = "c", where = { n = 1 } }
  local function warning(data)
    return headlines.warnings({ points = 1, worst = 0.27 }, 4, claims.judge_all({ claim }, data, axes))[1]
  end
  testing.contains(warning(rows("a", rising)), "that 1 of 4 points wanted, so their times do not count; no claim stays "
    .. "open. Repeat")
  testing.contains(warning(unreliable(rows("a", rising), { kind = "scatter", text = "known to 18 % only" })),
    "do not count. Repeat")
  testing.contains(warning(unreliable(rows("a", rising), busy)), "do not count, and 1 of 1 claim stays open. Repeat")
  testing.equal(headlines.warnings({ points = 0, worst = 0 }, 4, {}), {})
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
  local function texts_of(...)
    local list, texts = { ... }, {}
    for index, one in ipairs(headlines.of(claims.judge_all(list, rows("a", rising), axes), list)) do
      texts[index] = one.answer
    end
    return texts
  end
  testing.equal(texts_of(plain, gain), { "Examples/s with n 4 is 8 times [6.55, 9.78] that with n 1" })
  testing.equal(texts_of(plain), { "Examples/s goes from 10/s at n 1 to 80/s at 4" })
  testing.equal(texts_of(plain, gain, given), { "At least 10/s [9/s, 11/s]" })
  testing.equal(texts_of(), {})
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
  testing.equal(run { answer = function(own) return "twice is " .. own[2].figure end }.answers[1].answer, "twice is 6")
  local two = run { answer = function() return { "do it", "it gains" } end }.answers
  testing.equal({ #two, two[2].answer }, { 2, "it gains" })
  local function list(...)
    local values = { ... }
    return function() return values end
  end
  for _, wrong in ipairs { function() error "broken" end, function() return 7 end, function() end, list(),
      list("a", 7) } do
    testing.equal(run { answer = wrong }.answers[1].answer, "Figure goes from 3 at n 1 to 6 at 2")
  end
  testing.equal(run({ expect = {} }).answers, nil)
  testing.equal(run({ run = function() error "no" end }).answers[1].verdict, "not measurable here")
end)

require("gpubench.experiment").status = 0  -- of the points that failed above
