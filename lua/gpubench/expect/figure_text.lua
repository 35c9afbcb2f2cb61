-- What a claim found, as text: a figure with its interval where one setting was judged; where several were, the
-- smallest and the largest figure with the settings that gave them, so that nobody takes the span over settings for an
-- interval.
local check = require "gpubench.check"
local estimate = require "gpubench.expect.estimate"
local columns = require "gpubench.columns"
local native = require("gpubench.native")._native

local figure_text = {}

local heading = native.results.heading

-- A value of an axis with its unit: 16 MiB, 4096, last fifth.
local function value_text(name, value)
  if type(value) ~= "number" then return tostring(value) end
  return columns.of(name).unit ~= "" and estimate.show(name, value) or string.format("%.14g", value)
end

-- "width 128, depth 2"; `names` are the axes to tell.
local function setting_text(setting, names)
  local parts = {}
  for _, name in ipairs(names) do parts[#parts + 1] = heading(name) .. " " .. value_text(name, setting[name]) end
  return table.concat(parts, ", ")
end
figure_text.setting_text = setting_text

-- The axes of which the settings have different values.
function figure_text.varying(settings)
  local names = {}
  for name in pairs(settings[1] or {}) do
    for _, setting in ipairs(settings) do
      if setting[name] ~= settings[1][name] then
        names[name] = true
        break
      end
    end
  end
  return check.sorted_keys(names)
end

-- "34 % [33.1, 34.3]"; a figure without scatter has no interval. An interval may end at its median, where many rounds
-- gave the same: it says so, since it would look like a mistake.
local function with_interval(one, form, transform)
  local value, low, high = transform(one.value), transform(one.low), transform(one.high)
  if low > high then low, high = high, low end
  local text = string.format("%.3g", value)
  if low == high then return string.format(form, text) end
  local ends = string.format("%.3g, %.3g", low, high)
  local at_end = (value == low or value == high) and one.rounds
  return string.format("%s [%s%s]", string.format(form, text), ends, at_end and "; most rounds gave " .. text or "")
end

-- Whether no other of the list has the same values of these axes and another figure.
local function is_told_apart(one, list, names, show)
  for _, other in ipairs(list) do
    local alike = show(other.figure) ~= show(one.figure)
    for _, name in ipairs(names) do alike = alike and other.setting[name] == one.setting[name] end
    if alike then return false end
  end
  return true
end

-- Of the axes in `names` those on which the figure depends: along the others it stays the same. All of them where these
-- do not tell it from every other.
local function telling_axes(one, list, names, show)
  local needed = {}
  for _, name in ipairs(names) do
    for _, other in ipairs(list) do
      local is_neighbour = other.setting[name] ~= one.setting[name]
      for _, same in ipairs(names) do
        is_neighbour = is_neighbour and (same == name or other.setting[same] == one.setting[same])
      end
      if is_neighbour and show(other.figure) ~= show(one.figure) then
        needed[#needed + 1] = name
        break
      end
    end
  end
  return #needed > 0 and is_told_apart(one, list, needed, show) and needed or names
end

-- list: { { figure, setting }, ... }. show(figure): the figure's text.
local function span(list, key, show)
  local least, most = list[1], list[1]
  for _, one in ipairs(list) do
    if key(one.figure) < key(least.figure) then least = one end
    if key(one.figure) > key(most.figure) then most = one end
  end
  if #list == 1 then return show(least.figure) end
  local settings = {}
  for index, one in ipairs(list) do settings[index] = one.setting or {} end
  local names = figure_text.varying(settings)
  local function at(one)
    local text = #names > 0 and setting_text(one.setting, telling_axes(one, list, names, show)) or ""
    return text == "" and "" or " (" .. text .. ")"
  end
  local a, b = show(least.figure), show(most.figure)
  if a == b then return a end
  return string.format("from %s%s to %s%s", a, at(least), b, at(most))
end

local function ratio_text(form, transform)
  return function(list)
    return span(list, function(one) return transform(one.value) end,
      function(one) return with_interval(one, form, transform) end)
  end
end

-- "128 (dtype float32) or 256 (dtype bfloat16)": a few values have their settings where each setting has another.
local function values_text(list, claim)
  local seen, texts, least, most = {}, {}, nil, nil
  for _, one in ipairs(list) do
    local value = one.figure
    if type(value) == "number" then least, most = math.min(least or value, value), math.max(most or value, value) end
    if not seen[value] then texts[#texts + 1] = value_text(claim.x, value) end
    seen[value] = true
  end
  if #texts == 1 then return texts[1] end
  if least and #texts > 2 then
    return string.format("%s to %s", value_text(claim.x, least), value_text(claim.x, most))
  end
  if #texts == #list then
    local settings = {}
    for index, one in ipairs(list) do settings[index] = one.setting or {} end
    local names = figure_text.varying(settings)
    for index, setting in ipairs(#names > 0 and settings or {}) do
      texts[index] = string.format("%s (%s)", texts[index], setting_text(setting, names))
    end
  end
  return table.concat(texts, ", ", 1, #texts - 1) .. " or " .. texts[#texts]
end

-- Claims that find no ratio show the interval of the figure itself; that of a ratio has one already.
local shows_interval = { at_least = true, at_most = true, equal = true }

local function figures_text(list, claim)
  local is_ratio = claim.x and claim.of  -- the course of a ratio has no unit
  local function show(one)
    if is_ratio then return with_interval(one, "%s", function(value) return value end) end
    return shows_interval[claim.kind] and estimate.show_interval(claim.y, one) or estimate.show(claim.y, one.value)
  end
  return span(list, function(one) return one.value end, show)
end

-- The largest or the smallest figure, whichever setting gave it.
local function extreme_text(is_more)
  return function(list, claim)
    local chosen = list[1]
    for _, one in ipairs(list) do
      if is_more(one.figure.value, chosen.figure.value) then chosen = one end
    end
    return estimate.show_interval(claim.y, chosen.figure)
  end
end

-- "1.9 times by map, no change by batch, 1.2 times [0.9, 1.4] by prefetch", or "2 times by n 4", setting by setting. A
-- step that may be none has its interval.
local function steps_text(list, claim)
  local settings, parts = {}, {}
  for index, one in ipairs(list) do settings[index] = one.setting or {} end
  local names = figure_text.varying(settings)
  for _, one in ipairs(list) do
    local steps = {}
    for _, step in ipairs(one.figure) do
      local low, high = step.times.low, step.times.high
      local is_seen = low > 1 + estimate.noise or high < 1 - estimate.noise
      local is_none = low >= 1 - estimate.noise and high <= 1 + estimate.noise
      local gain = is_none and "no change" or string.format("%.3g times", step.times.value)
      if not is_seen and not is_none then gain = string.format("%s [%.3g, %.3g]", gain, low, high) end
      local name = type(step.x) == "number" and heading(claim.x) .. " " or ""
      steps[#steps + 1] = gain .. " by " .. name .. value_text(claim.x, step.x)
    end
    parts[#parts + 1] = (#names > 0 and "with " .. setting_text(one.setting, names) .. " " or "")
      .. table.concat(steps, ", ")
  end
  return table.concat(parts, "; ")
end

local function same(value) return value end

-- By placeholder: the field of a finding, and how its values over all settings are told.
local meanings = {
  -- where: the knee, the chosen value, the last of a course
  x = { "x", values_text },
  first = { "first", values_text },                              -- the value of x that it is held against
  of = { "of", figures_text },                                   -- the figure there, and what it is held against
  over = { "over", figures_text },
  most = { "of", extreme_text(function(a, b) return a > b end) },
  least = { "of", extreme_text(function(a, b) return a < b end) },
  times = { "times", ratio_text("%s times", same) },             -- their ratio: 3 times [2.9, 3.1]
  inverse_times = { "times", ratio_text("%s times", function(value) return 1 / value end) },  -- 0.333 is "3 times"
  more = { "times", ratio_text("%s %%", function(value) return 100 * (value - 1) end) },
  less = { "times", ratio_text("%s %%", function(value) return 100 * (1 - value) end) },
  share = { "share", ratio_text("%s %%", function(value) return 100 * value end) },
  -- of a course: the ratio of each figure to the one before
  steps = { "steps", steps_text },
}

-- Of so many times as fast: what it takes less.
local of_speed = { less = { "times", ratio_text("%s %%", function(value) return 100 * (1 - 1 / value) end) } }

-- Which of them each kind of claim finds.
local by_kind = {
  knee = { "x", "first", "of", "over", "times", "inverse_times", "more", "less" },
  ratio = { "of", "over", "times", "inverse_times", "more", "less" },
  increasing = { "x", "first", "of", "over", "times", "inverse_times", "more", "less", "steps" },
  best = { "x", "first", "of", "over", "share" },
  crossover = { "x", "first" },
  equal = { "of" },
  at_least = { "of", "least", "most" },
}
by_kind.faster, by_kind.decreasing, by_kind.at_most = by_kind.ratio, by_kind.increasing, by_kind.at_least
by_kind.compared = by_kind.ratio

-- The placeholder that tells most of each kind of claim, for what is not proven.
local main_figure = {
  knee = "times", ratio = "times", faster = "times", compared = "times", increasing = "times", decreasing = "times",
  best = "share", equal = "of", at_least = "of", at_most = "of",
}

-- Names of the placeholders that a claim of the kind fills.
function figure_text.names(kind)
  return by_kind[kind] or {}
end

-- The template with its figures; nil where one of them was not figure_text.
function figure_text.fill(claim, template, findings)
  local complete = #findings > 0
  local text = template:gsub("{([^{}]*)}", function(name)
    local field, tell = table.unpack(claim.kind == "faster" and of_speed[name] or meanings[name])
    local list = {}
    for _, one in ipairs(findings) do
      if one[field] ~= nil then list[#list + 1] = { figure = one[field], setting = one.setting } end
    end
    if #list < #findings then complete = false end
    return #list > 0 and tell(list, claim) or ""
  end)
  return complete and text or nil
end

local function without_interval(figure)
  return type(figure) == "table" and figure.value and { value = figure.value, low = figure.value, high = figure.value }
    or figure
end

-- The main figure of what was seen, without intervals; nil where none was.
function figure_text.about(claim, findings)
  local name = main_figure[claim.kind]
  if not name or not findings then return nil end
  local field = meanings[name][1]
  local list = {}
  for _, one in ipairs(findings) do
    if one[field] then list[#list + 1] = { [field] = without_interval(one[field]), setting = one.setting } end
  end
  return figure_text.fill(claim, "{" .. name .. "}", list)
end

return figure_text
