-- No code reads the sentences of doubts: verdicts, kinds, remedies and exit statuses stay where each is replaced by
-- "x".
local gb = require "gpubench"
local claims = require "gpubench.expect.claim"
local exit_status = require "gpubench.exit_status"
local testing = require "testing"
local results = gb._native.results

local axes = { gb.axis("device", { "a", "b" }), gb.axis("n", { 1, 2, 4 }) }
local doubts = results.doubts()

local function row(device, n, factor)
  return {
    status = "ok", device = device, n = n, work_s = n * factor, work_low_s = n * factor * 0.8,
    work_high_s = n * factor * 1.2,
    peak_memory_bytes = n, test_accuracy = n / 10, test_accuracy_low = n / 10 - 0.08,
    test_accuracy_high = n / 10 + 0.08,
  }
end

local function sound()
  local list = {}
  for _, n in ipairs { 1, 2, 4 } do list[#list + 1] = row("a", n, 1) end
  for _, n in ipairs { 1, 2, 4 } do list[#list + 1] = row("b", n, 1.1) end
  return list
end

local function claims_of()
  return {
    gb.expect.increasing { x = "n", y = "work_s" }, gb.expect.increasing { x = "n", y = "work_s", until_knee = true },
    gb.expect.decreasing { x = "n", y = "work_s" }, gb.expect.knee { x = "n", y = "work_s" },
    gb.expect.ratio { y = "work_s", of = { n = 4 }, over = { n = 1 }, at_least = 4 },
    gb.expect.ratio { y = "work_s", of = { device = "a" }, over = { device = "b" }, at_most = 1 },
    gb.expect.crossover { x = "n", y = "work_s", of = { device = "a" }, over = { device = "b" } },
    gb.expect.at_least { y = "test_accuracy", value = 0.1 },
    gb.expect.best { x = "n", y = "test_accuracy", value = 2, tolerance = 0.1 },
    gb.expect.equal { x = "n", y = "peak_memory_bytes", tolerance = 0.1 }, gb.expect.agree { y = "work_s", with = "n" },
    gb.expect.that {
      claim = "by hand", judge = function(rows)
        local ratio, why = gb.expect.compare(rows[2], rows[1], "work_s")
        return ratio and "confirmed" or "inconclusive", why
      end,
    },
  }
end

-- All that is decided of rows, without a sentence.
local function decided(rows, unmeasured)
  local list = {}
  local judged = claims.judge_all(claims_of(), rows, axes, unmeasured)
  for index, one in ipairs(judged) do list[index] = { one.verdict, one.kind or false, one.remedy or false } end
  for _, require in ipairs { "ok", "reliable" } do
    for _, reason in ipairs(exit_status.reasons(rows, axes, judged, { require = { require }, strict = true })) do
      list[#list + 1] = { reason.status }
    end
  end
  return testing.show(list)
end

-- As the program writes them; each is the start of a sentence of another kind in some row.
local sentences = {
  "other programs took 27 % of the processor time that it wanted", "6 rounds do not fit into 6 s, 25 times the budget",
  "31 % of the examples came from buffers that were filled before", "the median is known to 18 % only",
  "not settled after 90 steps in 1 s", "too few samples for an interval", "skipped: intervals overlap at n=2; 2 of 3",
  "4 points were not measured [1, 2]",
}

testing.case("whatever a sentence says, what is decided stays", function()
  for kind in pairs(doubts) do
    for _, quality in ipairs { "quality", "memory_quality" } do
      local function doubted(text)
        local rows = sound()
        for _, index in ipairs { 2, 6 } do
          rows[index][quality] = results.quality_text(text)
          rows[index][quality == "quality" and "doubt" or "memory_doubt"] = kind
        end
        return decided(rows)
      end
      local plain = doubted "x"
      for _, text in ipairs(sentences) do testing.equal(doubted(text), plain) end
    end
  end
end)

testing.case("whatever the detail of a row says, what is decided stays", function()
  for _, status in ipairs { "skipped", "out_of_memory", "error", "timeout" } do
    local function failed(text)
      local rows = sound()
      rows[3] = { status = status, device = "a", n = 4, detail = text }
      return decided(rows, { { device = "b", n = 4 } })
    end
    for _, text in ipairs(sentences) do testing.equal(failed(text), failed "x") end
  end
end)

testing.case("each kind of doubt has its own remedy, and a figure's kind decides where it helps", function()
  local function remedy_of(kind, column)
    local rows = sound()
    rows[2].quality, rows[2].doubt = "unreliable: x", kind
    return claims.judge_all({ gb.expect.increasing { x = "n", y = column } }, rows, axes)[1].remedy
  end
  for kind, words in pairs(doubts) do
    testing.equal(remedy_of(kind, "work_s"), words.remedy ~= "" and words.remedy or nil)
    -- Noise says nothing about what is learned: the claim is open because of its own interval.
    testing.equal(remedy_of(kind, "test_accuracy"), "give the experiment more 'trials'")
  end
  testing.contains(doubts.busy.remedy, "--wait-idle")
  testing.equal({ doubts.busy.remedy:find "budget", doubts.trained_once.remedy:find "budget" }, {})
end)

testing.case("where other programs disturbed the rounds, a larger budget is no remedy", function()
  local estimate = require "gpubench.expect.estimate"
  local claim = gb.expect.increasing { x = "n", y = "work_s" }
  local function judged(busy)
    local rows = sound()
    for _, one in ipairs(rows) do estimate.set_rounds(one, { rounds = {}, busy = busy }) end
    return claims.judge_all({ claim }, { rows[1], row("a", 2, 0.55) }, axes)[1]
  end
  testing.equal({ judged(false).kind, judged(false).remedy }, { "overlap", "a larger --budget narrows the intervals" })
  testing.equal({ judged(true).kind, judged(true).remedy }, { "overlap", doubts.busy.remedy })
end)

testing.case("a doubt of an older run, or of another program's kind, is of an unknown kind", function()
  for _, kind in ipairs { "", "no kind", "none", "Busy" } do
    testing.equal(results.doubt("unreliable: x", kind), { kind = "unknown", text = "x" })
  end
  testing.equal(results.doubt("x", nil), { kind = "unknown", text = "x" })
  testing.equal({ results.doubt("ok", "busy"), results.doubt(nil, "busy"), results.doubt("", "busy") }, {})
end)
