-- The sentence of a judged claim for people: that of the script with its figures filled in, or one of the claim's kind;
-- and of a claim that stays open, why, and what settles it.
local check = require "gpubench.check"
local doubts = require "gpubench.expect.doubts"
local figure_text = require "gpubench.expect.figure_text"
local native = require("gpubench.native")._native

local answer = {}

local heading = native.results.heading

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
    return string.format("%s {x} comes to {share} of %s with the best other value, {first}", heading(claim.x),
      heading(claim.y))
  end,
  crossover = function(claim)
    return string.format("up to %s {first}: %s; from {x} on: %s", heading(claim.x), claim.over_text, claim.of_text)
  end,
}
function defaults.faster(claim)
  return string.format("%s is {times} as fast as %s, by %s", claim.of_text, claim.over_text, heading(claim.y))
end
defaults.decreasing, defaults.compared = defaults.increasing, defaults.ratio

-- Before the first point: a template must name figures that the claim finds.
function answer.check(where, claim)
  if not claim.answer then return end
  local names, known = figure_text.names(claim.kind), {}
  for _, name in ipairs(names) do known[name] = true end
  for name in claim.answer:gmatch "{([^{}]*)}" do
    if not known[name] then
      check.fail("%s: option 'answer': there is no {%s} (known: %s)%s", where, name,
        #names > 0 and "{" .. table.concat(names, "}, {") .. "}" or "none for this kind of claim",
        native.results.suggestion(name, names))
    end
  end
end

local function capitalized(text)
  return (text:gsub("^%l", string.upper))
end

local longest_reason = 240

-- The first of several reasons with its setting, with the names of columns and axes as tables have them.
local function in_short(claim, reason)
  local first = reason.first or reason.text
  for _, name in ipairs { claim.y or false, claim.x or false, claim.with or false } do
    if name then
      first = first:gsub("%f[%w_]" .. name:gsub("%p", "%%%0") .. "%f[^%w_]", (heading(name):gsub("%%", "%%%%")))
    end
  end
  if reason.setting and #reason.names > 0 then
    first = first .. " with " .. figure_text.setting_text(reason.setting, reason.names)
  end
  return native.results.shorten(first, longest_reason)
end

-- Of a ratio, what it came to, in words; nil for other claims.
local function ratio_text(claim, findings)
  local is_ratio = claim.of_text and not claim.x
  return is_ratio and figure_text.fill(claim, (defaults[claim.kind] or defaults.ratio)(claim), findings) or nil
end

-- Why a claim is not confirmed, in a few words, and what settles it where something does.
local function why(claim, verdict, reason, findings)
  if verdict ~= "inconclusive" then
    return verdict == "refuted" and ratio_text(claim, findings) or in_short(claim, reason)
  end
  local because = doubts.why(reason) or reason.kind == "bound" and ratio_text(claim, findings)
    or in_short(claim, reason)
  return because, doubts.remedy(reason, claim.y or reason.column), reason.kind
end

-- What the rounds showed of a claim that is open: "about 27 times". Without an interval, which would look like a proof.
-- Nil where nothing was seen, and where the reason has the figure.
local function seen(claim, verdict, reason, findings)
  if verdict ~= "inconclusive" or reason.kind == "bound" then return nil end
  local text = figure_text.about(claim, findings)
  return text and "not proven: about " .. text
end

local without_gain = { refuted = "Not so here", inconclusive = "Open", ["not measurable here"] = "Not measurable here" }

-- The first letter small, but for names such as AUTOTUNE.
local function continued(text)
  return (text:gsub("^%u%f[%U]", string.lower))
end

-- Where the claim holds: "with input jpeg", or "in 7 of 8 cases", or "in 2 of 6 cases (input jpeg)".
local function scope(part)
  local held, common, differs = {}, {}, {}
  for _, one in ipairs(part.held) do held[#held + 1] = one.setting end
  for _, name in ipairs(figure_text.varying(held)) do differs[name] = true end
  for _, name in ipairs(figure_text.varying(part.settings)) do
    if not differs[name] then common[#common + 1] = name end
  end
  local alike = 0
  for _, setting in ipairs(part.settings) do
    local same = true
    for _, name in ipairs(common) do same = same and setting[name] == held[1][name] end
    alike = alike + (same and 1 or 0)
  end
  if #common > 0 and alike == #held then return "with " .. figure_text.setting_text(held[1], common) end
  local shared = #common > 0 and " (" .. figure_text.setting_text(held[1], common) .. ")" or ""
  return string.format("in %d of %d cases%s", #held, #part.settings, shared)
end

-- { text, why, seen, remedy, kind, partly } of a judged claim. reason: as in groups.judge. given: the sentence of
-- gb.expect.that's judge; part: of a claim that does not hold in all settings, those in which it does. `partly` is the
-- claim's answer in these, if it has one.
function answer.of(claim, verdict, reason, findings, given, part)
  local words = claim.words or claim.text
  if without_gain[verdict] then
    local because, remedy, kind = why(claim, verdict, reason, findings)
    local showed = seen(claim, verdict, reason, findings)
    local text = string.format("%s: %s%s: %s", without_gain[verdict], words,
      showed and " (" .. showed .. ")" or "", because)
    if remedy then text = text .. "; " .. remedy end
    local partly = claim.answer and part and #part.held > 0 and figure_text.fill(claim, claim.answer, part.held) or nil
    return {
      text = text, why = because, seen = showed, remedy = remedy, kind = kind,
      partly = partly and string.format("%s only: %s", capitalized(scope(part)), continued(partly)) or nil,
    }
  end
  if given then return { text = capitalized(given) } end
  local text = claim.answer and figure_text.fill(claim, claim.answer, findings)
  if not text then
    local default = defaults[claim.kind] and defaults[claim.kind](claim)
    text = default and figure_text.fill(claim, default, findings) or words .. ": " .. reason.text
  end
  return { text = capitalized(text) }
end

return answer
