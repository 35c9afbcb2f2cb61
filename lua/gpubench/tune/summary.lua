-- What `gpubench tune` prints at its end: each remedy with its gain beside what the diagnosis had promised, and the
-- lines to change.
local change = require "gpubench.tune.change"
local comparison = require "gpubench.tune.comparison"
local native = require("gpubench.native")._native

local summary = {}

local function print_table(lines)
  local widths = {}
  for _, line in ipairs(lines) do
    for column, text in ipairs(line) do widths[column] = math.max(widths[column] or 0, utf8.len(text) or #text) end
  end
  for _, line in ipairs(lines) do
    local parts = {}
    for column, text in ipairs(line) do
      parts[column] = column < #line and text .. (" "):rep(widths[column] - (utf8.len(text) or #text)) or text
    end
    print((native.results.one_line("  " .. table.concat(parts, "  ")):gsub("%s+$", "")))
  end
end

local function times_text(times)
  return times and times < math.huge and string.format("%.2f", times) or "-"
end

local verdict_texts = {
  kept = "kept", worse = "worse: left out", ["no gain"] = "no gain: left out",
  open = "open: the interval reaches into the noise of 1 %",
}

local function line_of(set, gain, promise)
  local verdict = comparison.verdict(gain)
  return {
    set.name, gain.why and "-" or comparison.show(gain), times_text(promise and promise.value),
    times_text(promise and promise.at_most),
    gain.why and "open: " .. gain.why or verdict_texts[verdict],
  }
end

local function print_sets(heading, sets, gains, promises)
  if #sets == 0 then return end
  print("\n" .. heading)
  local lines = { { "remedy", "times as good", "promised", "at most", "" } }
  for _, set in ipairs(sets) do
    if gains[set.name] then lines[#lines + 1] = line_of(set, gains[set.name], promises[set.name]) end
  end
  print_table(lines)
end

local function print_others(others)
  if #others == 0 then return end
  print "\nnot tried"
  local lines = {}
  for index, one in ipairs(others) do lines[index] = { one.name, one.reason } end
  print_table(lines)
end

-- Of the sets' changes, each edit once.
function summary.diff(source, sets)
  local edits = {}
  for _, set in ipairs(sets) do
    for _, one in ipairs(set.changes) do
      local own = change.edits(one, source)
      if own then table.move(own, 1, #own, #edits + 1, edits) end
    end
  end
  return source:changed_lines(edits)
end

local function elsewhere(source, sets)
  for _, set in ipairs(sets) do
    for _, one in ipairs(set.changes) do
      if one.site and one.site.file ~= source.path then
        print(native.results.one_line(string.format("# %s:%d: %s", one.site.file, one.site.line, one.text)))
      end
    end
  end
end

local function print_diff(heading, source, sets)
  if #sets == 0 then return end
  print("\n" .. heading)
  io.write(summary.diff(source, sets))
  elsewhere(source, sets)
end

-- found: { subject, figure, plain, learned = the sets that were tried, gains, promises, together = the sets of several,
-- gains_together, kept = the remedies whose lines are shown, kept_learned, gains_learned and promises_learned = beside
-- the kept ones, others, is_judged }.
function summary.print(found)
  print("\n" .. native.results.one_line(string.format("remedies for %s at %s, by %s", found.subject.path,
    found.subject:point_text(), found.figure)))
  print_sets("one at a time, compared with the point as it was", found.plain, found.gains, found.promises)
  print_sets("together, each compared with the line above", found.together, found.gains_together, {})
  print_sets(#found.kept == 0 and "what changes the weights that are learned, measured apart"
    or "what changes the weights that are learned, measured apart, compared with what helps",
    found.learned, found.gains_learned, found.promises_learned)
  print_others(found.others)
  print_diff("what helps, line by line (nothing is written)", found.subject.source, found.kept)
  print_diff("what helps and changes what is learned, line by line", found.subject.source, found.kept_learned)
  if found.is_judged and #found.kept + #found.kept_learned == 0 then
    print "\nno remedy is known to help by more than the noise of 1 %: the script stays as it is"
  end
end

local function plain_sets(sets, gains, promises)
  local list = {}
  for _, set in ipairs(sets) do
    local gain, texts, bound = gains[set.name], {}, promises[set.name] and promises[set.name].at_most
    for index, one in ipairs(set.changes) do texts[index] = one.text end
    list[#list + 1] = {
      name = set.name, verdict = comparison.verdict(gain), reason = gain.why, times_as_good = gain.value,
      times_as_good_low = gain.low, times_as_good_high = gain.high,
      promised_times_as_good = promises[set.name] and promises[set.name].value,
      at_most_times_as_good = bound ~= math.huge and bound or nil, changes = texts,
    }
  end
  return list
end

local function names_of(sets)
  local names = {}
  for index, set in ipairs(sets) do names[index] = set.name end
  return names
end

-- For --json: one line.
function summary.json(found)
  local source = found.subject.source
  return native.results.json {
    kind = "tune", script = found.subject.path, experiment = found.subject.name, point = found.subject:point_text(),
    figure = found.figure, remedies = plain_sets(found.plain, found.gains, found.promises),
    together = plain_sets(found.together, found.gains_together, {}),
    change_what_is_learned = plain_sets(found.learned, found.gains_learned, found.promises_learned),
    not_tried = found.others, kept = names_of(found.kept), kept_and_changing = names_of(found.kept_learned),
    diff = summary.diff(source, found.kept), changing_diff = summary.diff(source, found.kept_learned),
  }
end

return summary
