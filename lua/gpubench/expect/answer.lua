-- What a claim found, as a sentence for people: that of the script with its figures filled in, or one of the claim's
-- kind. A judge tells what it found as { x, first, times, share, of, over }; see `meanings`.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local columns = require "gpubench.columns"
local estimate = require "gpubench.expect.estimate"
local native = gb._native

local answer = {}

-- 11.4 times [10.7, 12.3]; a figure without scatter has no interval.
local function with_interval(one, form, transform)
  local low, high = transform(one.low), transform(one.high)
  if low > high then low, high = high, low end
  local text = string.format(form, string.format("%.3g", transform(one.value)))
  if one.low == one.high then return text end
  return string.format("%s [%.3g, %.3g]", text, low, high)
end

local function same(value) return value end
local function inverse(value) return 1 / value end

-- Of several settings: the smallest and the largest.
local function range(list, form, transform)
  local least, most = math.huge, -math.huge
  for _, one in ipairs(list) do
    local value = transform(one.value)
    least, most = math.min(least, value), math.max(most, value)
  end
  local a, b = string.format("%.3g", least), string.format("%.3g", most)
  return string.format(form, a == b and a or a .. " to " .. b)
end

local function ratio_text(form, transform)
  return function(list)
    return #list == 1 and with_interval(list[1], form, transform) or range(list, form, transform)
  end
end

local function values_text(list)
  local seen, texts, least, most = {}, {}, nil, nil
  for _, value in ipairs(list) do
    if type(value) == "number" then least, most = math.min(least or value, value), math.max(most or value, value) end
    if not seen[value] then texts[#texts + 1] = tostring(value) end
    seen[value] = true
  end
  if #texts == 1 then return texts[1] end
  if least and #texts > 2 then return string.format("%s to %s", least, most) end
  return table.concat(texts, ", ", 1, #texts - 1) .. " or " .. texts[#texts]
end

-- The course of a ratio has no unit.
local function figures_text(list, claim)
  local show = claim.x and claim.of and function(value) return string.format("%.3g", value) end
    or function(value) return estimate.show(claim.y, value) end
  local least, most = math.huge, -math.huge
  for _, one in ipairs(list) do least, most = math.min(least, one.value), math.max(most, one.value) end
  local a, b = show(least), show(most)
  return a == b and a or a .. " to " .. b
end

-- By placeholder: the field of a finding, and how its values over all settings are told.
local meanings = {
  x = { "x", values_text },                                      -- where: the knee, the chosen value, the last of a course
  first = { "first", values_text },                              -- the value of x that it is held against
  of = { "of", figures_text },                                   -- the figure there, and what it is held against
  over = { "over", figures_text },
  times = { "times", ratio_text("%s times", same) },             -- their ratio: 3 times [2.9, 3.1]
  inverse_times = { "times", ratio_text("%s times", inverse) },  -- 0.333 is "3 times"
  more = { "times", ratio_text("%s %%", function(value) return 100 * (value - 1) end) },
  less = { "times", ratio_text("%s %%", function(value) return 100 * (1 - value) end) },
  share = { "share", ratio_text("%s %%", function(value) return 100 * value end) },
}

-- Which of them each kind of claim finds.
local found_by = {
  knee = { "x", "first", "of", "over", "times", "inverse_times", "more", "less" },
  ratio = { "of", "over", "times", "inverse_times", "more", "less" },
  increasing = { "x", "first", "of", "over", "times", "inverse_times", "more", "less" },
  best = { "x", "first", "of", "over", "share" },
  crossover = { "x", "first" },
  equal = { "of" },
  at_least = { "of" },
}
found_by.faster, found_by.decreasing, found_by.at_most = found_by.ratio, found_by.increasing, found_by.at_least

local function heading(column) return native.results.heading(column) end

local defaults = {
  knee = function(claim)
    return string.format("%s of {x} or more: {times} the %s at {first}; beyond it at most %.3g %% is gained",
      heading(claim.x), heading(claim.y), 100 * (1 / claim.share - 1))
  end,
  ratio = function(claim)
    return string.format("%s with %s is {times} that with %s", heading(claim.y), claim.of_text, claim.over_text)
  end,
  increasing = function(claim)
    if claim.of then return nil end
    return string.format("%s goes from {over} at %s {first} to {of} at {x}", heading(claim.y), heading(claim.x))
  end,
  best = function(claim)
    return string.format("%s {x}: {share} of the best other one ({first})", heading(claim.x))
  end,
  crossover = function(claim)
    return string.format("up to %s {first}: %s; from {x} on: %s", heading(claim.x), claim.over_text, claim.of_text)
  end,
}
defaults.faster, defaults.decreasing = defaults.ratio, defaults.increasing

-- Before the first point: a template must name figures that the claim finds.
function answer.check(where, claim)
  if not claim.answer then return end
  local known = {}
  for _, name in ipairs(found_by[claim.kind] or {}) do known[name] = true end
  for name in claim.answer:gmatch "{([^{}]*)}" do
    if not known[name] then
      local names = found_by[claim.kind] or {}
      check.fail("%s: option 'answer': there is no {%s} (known: %s)%s", where, name,
        #names > 0 and "{" .. table.concat(names, "}, {") .. "}" or "none for this kind of claim",
        native.results.suggestion(name, names))
    end
  end
end

-- The template with its figures; nil where one of them was not found.
local function fill(claim, template, findings)
  local complete = #findings > 0
  local text = template:gsub("{([^{}]*)}", function(name)
    local field, tell = table.unpack(meanings[name])
    local list = {}
    for _, one in ipairs(findings) do list[#list + 1] = one[field] end
    if #list < #findings then complete = false end
    return #list > 0 and tell(list, claim) or ""
  end)
  return complete and text or nil
end

local function capitalized(text)
  return (text:gsub("^%l", string.upper))
end

local longest_reason = 120

-- The first of several reasons, without the settings that it is about: the list of claims has them all.
local function in_short(reason)
  local first = reason:match "^(.-); " or reason
  first = first:gsub(" at [%a_][%w_]*=[^:]*$", "")
  return native.results.shorten(first, longest_reason)
end

-- The sentence of a judged claim: what was found where it is confirmed, else that it does not hold or stays open.
-- `given`: the sentence of gb.expect.that's judge.
function answer.of(claim, verdict, reason, findings, given)
  local without = { refuted = "Not so here", inconclusive = "Open", ["not measurable here"] = "Not measurable here" }
  if without[verdict] then return string.format("%s: %s: %s", without[verdict], claim.text, in_short(reason)) end
  if given then return capitalized(given) end
  if claim.answer then
    local text = fill(claim, claim.answer, findings)
    if text then return capitalized(text) end
  end
  local default = defaults[claim.kind] and defaults[claim.kind](claim)
  return capitalized(default and fill(claim, default, findings) or claim.text .. ": " .. reason)
end

-- Kinds of claims that say what to do or how much it gains.
local tells_gain = { knee = true, ratio = true, faster = true, best = true, crossover = true }

-- Sentences of the claims that a script has given an answer, those of confirmed ones first; without such a claim, that of
-- the first which tells a reader what to do or how much it gains.
function answer.headlines(judged, claims)
  local list = {}
  for index, one in ipairs(judged) do
    if claims[index].answer or claims[index].reads and one.given then
      list[#list + 1] = { answer = one.answer, verdict = one.verdict }
    end
  end
  if #list > 0 then
    local confirmed, others = {}, {}
    for _, one in ipairs(list) do table.insert(one.verdict == "confirmed" and confirmed or others, one) end
    return table.move(others, 1, #others, #confirmed + 1, confirmed)
  end
  local first
  for index, one in ipairs(judged) do
    local gains = tells_gain[claims[index].kind]
    if not first or gains and not first.gains then first = { answer = one.answer, verdict = one.verdict, gains = gains } end
  end
  return first and { { answer = first.answer, verdict = first.verdict } } or {}
end

return answer
