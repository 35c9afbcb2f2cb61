-- What a run answers, at the top of its report and at the end of its table: first what to do and what it gains; then
-- every claim that does not hold, and those that stay open or cannot be measured, together where one reason explains
-- several.
local gb = require "gpubench.native"

local headlines = {}

-- Kinds of claims that say what to do or how much it gains.
local tells_gain = { knee = true, ratio = true, faster = true, best = true, crossover = true, compared = true }

-- The sentences of confirmed claims for which the script has one; where it has none for any claim, that of the first
-- claim that tells what to do or how much it gains.
local function gains(judged, claims)
  local list, first, any_asked = {}, nil, false
  for index, one in ipairs(judged) do
    local claim = claims[index]
    local asked = claim.answer or claim.reads and one.given
    any_asked = any_asked or asked ~= nil and asked ~= false
    if one.verdict == "confirmed" and asked then list[#list + 1] = { answer = one.answer, verdict = "confirmed" } end
    if one.partly then list[#list + 1] = { answer = one.partly, verdict = "confirmed" } end
    local has_gain = tells_gain[claim.kind]
    if one.verdict == "confirmed" and (not first or has_gain and not first.has_gain) then
      first = { answer = one.answer, verdict = "confirmed", has_gain = has_gain }
    end
  end
  if any_asked or not first then return list end
  return { { answer = first.answer, verdict = "confirmed" } }
end

-- words: { { text, seen = what the rounds showed of it }, ... }.
local function quoted(words)
  local list = {}
  for index, one in ipairs(words) do
    list[index] = (#words == 1 and one.text or '"' .. one.text .. '"') .. (one.seen and " (" .. one.seen .. ")" or "")
  end
  if #words == 1 then return list[1] end
  return table.concat(list, ", ", 1, #list - 1) .. " and " .. list[#list]
end

local titles = { inconclusive = "Open", ["not measurable here"] = "Not measurable here" }

-- One sentence for all claims of a verdict that have the same reason.
local function together(judged, claims, verdict)
  local by_reason, order = {}, {}
  for index, one in ipairs(judged) do
    if one.verdict == verdict then
      local key = (one.why or "") .. "\0" .. (one.remedy or "")
      if not by_reason[key] then
        by_reason[key] = { why = one.why, remedy = one.remedy, words = {} }
        order[#order + 1] = by_reason[key]
      end
      table.insert(by_reason[key].words, { text = claims[index].words or claims[index].text, seen = one.seen })
    end
  end
  local list = {}
  for _, one in ipairs(order) do
    local text = string.format("%s: %s: %s", titles[verdict], quoted(one.words), one.why)
    list[#list + 1] = {
      answer = text .. (one.remedy and "; " .. one.remedy or ""), verdict = verdict, why = one.why, remedy = one.remedy,
    }
  end
  return list
end

-- Whether the first claim that a script has an answer for is open or refuted, and no other one tells a gain of its
-- figure.
local function is_main_in_doubt(judged, claims)
  local main, y
  for index, one in ipairs(judged) do
    local claim = claims[index]
    if claim.answer and not main then main, y = one, claim.y end
    local holds = one.verdict == "confirmed" or one.partly
    if claim.answer and claim.y == y and tells_gain[claim.kind] and holds then return false end
  end
  return main ~= nil and (main.verdict == "inconclusive" or main.verdict == "refuted") and not main.partly
end

-- Of what a script's own function answers: nil, or sentences.
function headlines.what_is_wrong(said)
  if said == nil then return nil end
  if type(said) ~= "table" then return "a string, strings or nil expected, got " .. type(said) end
  for index, one in ipairs(said) do
    if type(one) ~= "string" then return string.format("its sentence %d is no string but a %s", index, type(one)) end
  end
  if #said == 0 then return "a table without a sentence" end
end

-- sentences: what the script's own function answers, in place of the claims' gains.
function headlines.of(judged, claims, sentences)
  local found, against, rest = {}, {}, {}
  for index, one in ipairs(sentences or {}) do found[index] = { answer = one, verdict = "" } end
  if #found == 0 then found = gains(judged, claims) end
  for _, one in ipairs(judged) do
    if one.verdict == "refuted" then against[#against + 1] = { answer = one.answer, verdict = "refuted" } end
  end
  local open, unknown = together(judged, claims, "inconclusive"), together(judged, claims, "not measurable here")
  table.move(open, 1, #open, #against + 1, against)
  -- What else was found must not look like the answer where that is open or does not hold.
  if not sentences and is_main_in_doubt(judged, claims) then found, against = against, found end
  for _, lines in ipairs { found, against, unknown } do table.move(lines, 1, #lines, #rest + 1, rest) end
  return rest
end

-- How many claims are open, and how many of them because of other programs.
local function count_open(judged)
  local open, busy = 0, 0
  for _, one in ipairs(judged) do
    if one.verdict == "inconclusive" then open, busy = open + 1, busy + (one.kind == "busy" and 1 or 0) end
  end
  return open, busy
end

-- What a reader has to know before the verdicts. disturbed: { points, worst }, points that other programs disturbed.
function headlines.warnings(disturbed, points, judged)
  if disturbed.points == 0 then return {} end
  local open, busy = count_open(judged)
  local effect = ""
  if busy > 0 then
    effect = string.format(", and %d of %s %s open", busy, gb.format.count(#judged, "claim"),
      busy == 1 and "stays" or "stay")
  elseif open == 0 and #judged > 0 then
    effect = "; no claim stays open"
  end
  return { string.format("Other programs took up to %.0f %% of the processor time that %d of %s wanted, so their times "
    .. "do not count%s. Repeat the run on an idle machine, or with --wait-idle 600.", 100 * disturbed.worst,
    disturbed.points,
    gb.format.count(points, "point"), effect) }
end

return headlines
