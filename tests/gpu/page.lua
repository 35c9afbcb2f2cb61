-- The page of a run of gpu_check, printed as HTML. GPU_CHECK_RUN is the run's folder: summary.json, the logs of the
-- parts "kernels" and "traces", and the table of the part "speed", whose bars are in the file GPU_CHECK_BARS. What is
-- missing is said, so a page can be made at any time.
local gb = require "gpubench"
local native = gb._native

local folder = assert(os.getenv "GPU_CHECK_RUN", "GPU_CHECK_RUN is not set")

local function contents(name)
  local file = io.open(folder .. "/" .. name)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

local function json_of(name)
  local text = contents(name)
  return text and native.page.parse_json(text, name) or nil
end

-- What a part printed behind "data: ", also where it did not come to its end.
local function data_of(part)
  local list = {}
  for line in (contents(part .. ".log") or ""):gmatch "data: ([^\n]+)" do
    local whole, fields = pcall(native.page.parse_json, line, part)
    if whole then list[#list + 1] = fields end  -- else the part was ended while it printed
  end
  return list
end

local function time_text(seconds, digits)
  if not seconds then return "" end
  for _, unit in ipairs { { 1, "s" }, { 1e-3, "ms" } } do
    if seconds >= unit[1] then return string.format((digits or "%.3g") .. " %s", seconds / unit[1], unit[2]) end
  end
  return string.format((digits or "%.3g") .. " us", seconds / 1e-6)
end

local function rate_text(rate, unit, digits)
  if not rate then return "" end
  for _, one in ipairs { { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" } } do
    if rate >= one[1] then return string.format((digits or "%.3g") .. " %s%s", rate / one[1], one[2], unit) end
  end
  return string.format((digits or "%.3g") .. " %s", rate, unit)
end

local function share_text(share) return share and string.format("%.0f %%", 100 * share) or "" end

local summary = assert(json_of "summary.json", "summary.json is not in the run")
local looks = { passed = "confirmed", failed = "refuted" }

local function parts_section()
  local rows, seen = {}, {}
  for index, part in ipairs(summary.parts) do
    rows[index] = { part.name, part.status, string.format("%d", part.seconds), part.checks, part.detail }
    seen[index] = looks[part.status] or "open"
  end
  return { id = "parts", heading = "What passed", tables = { { caption = "Parts", align = "llrll", heads = 1,
    headings = { "part", "result", "seconds", "what is checked", "detail" }, rows = rows, looks = seen } } }
end

-- The parts without a result, with the command that adds them.
local function missing_section()
  local parts = table.concat(summary.missing, ", ")
  return { id = "missing", heading = "What is missing",
    items = parts ~= "" and { "Not done: " .. parts .. ". To add them: " .. summary.again } or nil }
end

-- --- Speed beside PyTorch
-- -----------------------------------------------------------------------------------------------

local peers = json_of "speed/gpu_peers.json"
local verdicts = { met = "confirmed", missed = "refuted", ["not measured"] = "open" }

-- With more digits than elsewhere, so that a value just below its bar looks so.
local function in_unit(value, unit)
  if type(value) ~= "number" then return "" end
  if unit == "share" then return string.format("%.1f %%", 100 * value) end
  if unit == "x" then return string.format("%.4g x", value) end
  if unit == "s" then return time_text(value, "%.4g") end
  return rate_text(value, unit == "bytes/s" and "B/s" or unit, "%.4g")
end

-- What was compared with what, and what held the clocks down meanwhile.
local function systems_text(run)
  local words, torch, gpu = {}, run.systems.torch, run.gpu
  if torch then
    words[1] = string.format("PyTorch %s with CUDA %s and cuDNN %s", torch.version, torch.cuda, torch.cudnn)
  end
  if gpu.driver then
    words[#words + 1] = "driver " .. gpu.driver
    words[#words + 1] = "clocks held down by: "
      .. (run.throttled[1] and table.concat(run.throttled, ", ") or "nothing when looked at")
  end
  return words[1] and table.concat(words, "; ") .. "."
end

-- Why the part has no result, or not all; nil where it passed.
local function absence_of(name)
  for _, part in ipairs(summary.parts) do
    if part.name == name then
      return part.status ~= "passed" and string.format("The part %s: %s, %s.", name, part.status, part.detail) or nil
    end
  end
  return string.format("The part %s has not been run.", name)
end

-- The rows of the comparison; without one, the bars.
local function rows_of_speed(absence)
  if peers then return peers.rows end
  local rows = {}
  local file <close> = assert(io.open(os.getenv "GPU_CHECK_BARS"))
  for index, bar in ipairs(native.page.parse_json(file:read "a", "bars.json")) do
    rows[index] = { line = bar.line, figure = bar.figure, unit = bar.unit, bar = bar.at_least or bar.at_most,
      bar_is = bar.at_least and "at least" or "at most", verdict = "not measured", reason = absence }
  end
  return rows
end

local function speed_section()
  local section, absence = { id = "speed", heading = "Speed beside PyTorch" }, absence_of "speed"
  local rows, seen, counts = {}, {}, { met = 0, missed = 0, ["not measured"] = 0 }
  for index, row in ipairs(rows_of_speed(absence)) do
    local bar = type(row.bar) == "number" and row.bar_is .. " " .. in_unit(row.bar, row.unit) or ""
    rows[index] = { row.line, row.figure, in_unit(row.value, row.unit),
      type(row.spread) == "number" and string.format("%.1f %%", 100 * row.spread) or "", bar, row.verdict,
      row.reason or row.note or "" }
    seen[index] = bar ~= "" and verdicts[row.verdict] or ""
    if bar ~= "" then counts[row.verdict] = counts[row.verdict] + 1 end
  end
  section.lines = { string.format("Bars: %d met, %d missed, %d not measured. A bar is held "
    .. "against figures of this run alone.",
    counts.met, counts.missed, counts["not measured"]), absence }
  if peers then section.lines[#section.lines + 1] = systems_text(peers.run) end
  if peers and not peers.run.complete then
    section.lines[#section.lines + 1] = "Not all processes of the comparison were done."
  end
  if peers and peers.run.no_torch then section.lines[#section.lines + 1] = peers.run.no_torch .. "." end
  section.tables = { { caption = "Figures and bars", align = "llrrlll", heads = 2,
    headings = { "line", "figure", "value", "spread", "bar", "verdict", "why or what" }, rows = rows, looks = seen } }
  return section
end

-- --- Kernels
-- ------------------------------------------------------------------------------------------------------------

local most_kernels = 20
local measured, traced = data_of "kernels", data_of "traces"

-- What the traces say of a model, with products searched or not.
local function traced_of(model, searched)
  for _, one in ipairs(traced) do
    if one.model == model and (one.search ~= nil) == searched then return one end
  end
  return {}
end

-- The best rates of this GPU in the same process: of products in the model's type, and of copies on the device.
-- Their keys begin with the device's name and description; of products they end with the type.
local function best_of(one)
  local dtype = one.dtype:gsub("^mixed_", "")
  local function of_device(rates, ending)
    for key, rate in pairs(rates or {}) do
      if key:sub(1, #one.device + 1) == one.device .. " " and key:sub(#key - #ending + 1) == ending then return rate end
    end
  end
  local copies = of_device(one.copies, "")
  return of_device(one.peaks, ", " .. dtype), copies and copies.on_device
end

local function key_of(entry)
  return table.concat({ entry.op, entry.layer or "", entry.role or "" }, "/")
end

-- The implementation of each kernel in the steps with searched products.
local function searched_of(model)
  local names = {}
  for _, entry in ipairs(traced_of(model, true).entries or {}) do names[key_of(entry)] = entry.implementation end
  return names
end

local function implementation_text(entry, searched)
  local own, found = entry.implementation or "", searched[key_of(entry)]
  return found and found ~= own and own .. "; when searched: " .. found or own
end

-- `searched`: of a table of single kernels, which have an algorithm.
local function kernels_table(one, entries, caption, searched)
  local flops_peak, bytes_peak = best_of(one)
  local rows = {}
  for index, entry in ipairs(entries or {}) do
    if index > most_kernels then break end
    local flops = entry.flops and entry.flops / entry.time_s
    local bytes = entry.bytes and entry.bytes / entry.time_s
    local row = { entry.op, entry.layer or "", entry.role or "", time_text(entry.time_s), share_text(entry.share),
      string.format("%.3g", entry.calls), flops and flops > 0 and rate_text(flops, "FLOP/s") or "",
      share_text(flops and flops > 0 and flops_peak and flops / flops_peak or nil), rate_text(bytes, "B/s"),
      share_text(bytes and bytes_peak and bytes / bytes_peak or nil) }
    if searched then row[#row + 1] = implementation_text(entry, searched) end
    rows[index] = row
  end
  return { caption = one.model .. ": " .. caption, align = "lllrrrrrrrl", heads = 3, rows = rows, headings = { "op",
    "layer", "role", "time", "of the step", "calls", "rate", "of the best product", "bytes", "of the best copy",
    searched and "algorithm" or nil } }
end

-- Of a model as it is: no fusion left out, nothing searched.
local function is_plain(one)
  return not one.without and not one.search and not one.failure
end

local function section_of(one)
  local lines = { string.format("Batch %d in %s: a step of %s (%s to %s), %d kernels%s.", one.batch, one.dtype,
    time_text(one.step_time_s), time_text(one.step_time_low_s or one.step_time_s),
    time_text(one.step_time_high_s or one.step_time_s), one.kernels,
    one.mfu and ", " .. share_text(one.mfu) .. " of the best product" or "") }
  local trace = traced_of(one.model, false)
  local verdict, absence = trace.verdict or one.verdict, absence_of "traces"
  if verdict then lines[#lines + 1] = "Verdict: " .. verdict .. "." end
  if trace.doubt then lines[#lines + 1] = "In doubt: " .. trace.doubt .. "." end
  if trace.no_trace or trace.failure then
    lines[#lines + 1] = "Its kernels are not listed, because none can be traced: " .. (trace.no_trace or trace.failure)
  elseif not trace.entries and absence then
    lines[#lines + 1] = "Its kernels are not listed. " .. absence
  end
  local items = {}
  for _, finding in ipairs(trace.findings or one.findings or {}) do
    local advice = {}
    for index, remedy in ipairs(finding.remedies or {}) do advice[index] = remedy.advice end
    if advice[1] then items[#items + 1] = finding.headline .. ": " .. table.concat(advice, ", or ") end
  end
  local section = { id = "kernels_" .. one.model:lower():gsub("%W", "_"), heading = one.model, lines = lines,
    items = items }
  if trace.entries then
    section.tables = { kernels_table(one, trace.ops, "kernels by time"),
      kernels_table(one, trace.entries, "the longest kernels, each by itself", searched_of(one.model)) }
    section.note = "Times are of traced steps, which launch op by op; bytes are the least that a kernel must move, so "
      .. "a share of the best copy above 100 % means data that stayed in the cache. Algorithms are those that the "
      .. "kernels took: numbers of cuBLASLt and engines of cuDNN."
  end
  return section
end

local function models_sections()
  local sections = {}
  for _, one in ipairs(measured) do
    if is_plain(one) then
      sections[#sections + 1] = section_of(one)
    elseif one.failure then
      sections[#sections + 1] = { heading = one.model, lines = { "Not measured: " .. one.failure } }
    end
  end
  return sections
end

-- --- Suggestions
-- --------------------------------------------------------------------------------------------------------

local function interval_of(row)
  return row.step_time_low_s or row.step_time_s, row.step_time_high_s or row.step_time_s
end

-- "faster" or "slower" where the intervals of both steps lie apart.
local function compared(row, before)
  local low, high = interval_of(row)
  local low_before, high_before = interval_of(before)
  if high < low_before then return "faster" end
  return low > high_before and "slower" or "alike"
end

local function change_text(row, before)
  return string.format("%s instead of %s, %+.1f %%", time_text(row.step_time_s), time_text(before.step_time_s),
    100 * (row.step_time_s / before.step_time_s - 1))
end

-- What a pass must gain in some step to be worth its code (docs/gpus.md).
local least_gain = 0.03

-- Of a step without the pass, the share that the pass saves: the mean, and the least and most by both intervals.
local function gain_of(row, before)
  local low, high = interval_of(row)
  local low_before, high_before = interval_of(before)
  return { mean = 1 - before.step_time_s / row.step_time_s, least = 1 - high_before / low,
    most = 1 - low_before / high, model = before.model }
end

-- A sentence for each pass that gains less than `least_gain` in every step that it changes. `gains`: lists by pass.
local function little_gains(gains)
  local names, items = {}, {}
  for name in pairs(gains) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local best = gains[name][1]
    for _, gain in ipairs(gains[name]) do
      if gain.mean > best.mean then best = gain end
    end
    if best.mean < least_gain then
      items[#items + 1] = string.format("Delete %s, which gains less than %.0f %%: "
        .. "at best %.1f %% (%.1f to %.1f %%), in %s.", name, 100 * least_gain, 100 * best.mean, 100 * best.least,
        100 * best.most, best.model)
    end
  end
  return items
end

local function suggestions_section()
  local gains = {}
  local before, items, rows, seen = {}, {}, {}, {}
  for _, one in ipairs(measured) do
    if is_plain(one) then before[one.model] = one end
  end
  for _, one in ipairs(measured) do
    local reference = before[one.model]
    local way = one.without and "without " .. one.without or one.search and "products searched among " .. one.search
    if way and reference then
      local result = compared(one, reference)
      rows[#rows + 1] = { one.model, way, time_text(one.step_time_s), time_text(reference.step_time_s), result }
      seen[#seen + 1] = result == "faster" and "refuted" or result == "slower" and "confirmed" or ""
      if one.without then
        gains[one.without] = gains[one.without] or {}
        table.insert(gains[one.without], gain_of(one, reference))
      end
      if result == "faster" and one.without then
        items[#items + 1] = string.format("Turn off %s for steps like %s's: %s.", one.without, one.model,
          change_text(one, reference))
      elseif result == "faster" then
        items[#items + 1] = string.format("The heuristic's algorithm loses in %s: "
          .. "gb.config.set_matmul_search(%d) gives %s.",
          one.model, one.search, change_text(one, reference))
      end
    end
  end
  for _, item in ipairs(little_gains(gains)) do items[#items + 1] = item end
  local section = { id = "suggestions", heading = "Suggestions", items = items }
  if #rows == 0 then return section end
  if #items == 0 then
    section.lines = { "None: every pass that was measured gains time, and the heuristic's algorithms "
      .. "are the fastest of those that were searched." }
  end
  section.tables = { { caption = "Steps without a pass, and with a search", align = "llrrl", heads = 2, rows = rows,
    looks = seen, headings = { "model", "way", "step", "as it is", "result" } } }
  return section
end

-- --- The page
-- -----------------------------------------------------------------------------------------------------------

local function headline()
  local text, missing = summary.counts .. (summary.bars ~= "" and "; " .. summary.bars or ""), #summary.missing
  if missing == 0 then return text end
  return string.format("%s; %d %s not done", text, missing, missing == 1 and "part" or "parts")
end

local sections = { parts_section(), missing_section(), suggestions_section(), speed_section() }
table.move(models_sections(), 1, 8, #sections + 1, sections)

io.write(native.page.html {
  title = "gpu_check on " .. summary.host,
  facts = { summary.device, summary.version, summary.started_utc },
  headline = headline(),
  lines = summary.missed,
  links = { { name = "summary.json", link = "summary.json" }, { name = "summary.txt", link = "summary.txt" } },
  sections = sections,
})
