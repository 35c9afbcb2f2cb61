-- What the outputs say of emulated devices: a label in every row, a warning above the report, a mark on the answers.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local native = gb._native

local emulated = {}

local function names_in(text)
  local names = {}
  for name in text:gmatch "emulated:%w+:%d+" do names[#names + 1] = name end
  return names
end

-- The distinct texts of the devices that a row names, or of all in use where it names none.
local function label_of(row, in_use)
  local names = type(row.device) == "string" and names_in(row.device) or check.sorted_keys(in_use)
  local texts, seen = {}, {}
  for _, name in ipairs(names) do
    local text = in_use[name]
    if text and not seen[text] then texts[#texts + 1], seen[text] = text, true end
  end
  return texts[1] and table.concat(texts, "; ")
end

-- Labels a row that the point which has just run gave. Cells that arithmetic would have filled are not numbers (NaN)
-- then; they become empty.
function emulated.label(row)
  local in_use = native.emulation.in_use()
  if next(in_use) == nil then return end
  row.emulation = label_of(row, in_use)
  if not row.emulation then return end
  for _, column in ipairs(check.sorted_keys(row)) do
    if row[column] ~= row[column] then row[column] = nil end
  end
end

-- The distinct labels of the rows; nil where none has one.
local function labels_of(rows)
  local labels = {}
  for _, row in ipairs(rows) do
    if row.emulation then labels[row.emulation] = true end
  end
  return next(labels) and check.sorted_keys(labels)
end

-- For the top of the report.
function emulated.warnings(rows)
  local labels = labels_of(rows)
  if not labels then return {} end
  -- Labels differ in the share of short kernels; the product is what matters here.
  local products = {}
  for _, label in ipairs(labels) do
    for one in (label .. ";"):gmatch "emulated ([^,;]+)," do products[one] = true end
  end
  return { string.format("Rows of emulated devices show times calculated from the profile of %s, measured on none. "
    .. "They have no loss, accuracy or other result of arithmetic. The column emulation says how "
      .. "far their times were checked.",
    table.concat(check.sorted_keys(products), ", ")) }
end

-- The numbers of the profiles that the rows depend on, for run.json.
function emulated.profiles(rows)
  local profiles = {}
  for _, row in ipairs(rows) do
    for _, name in ipairs(row.emulation and type(row.device) == "string" and names_in(row.device) or {}) do
      local model = name:match ":(%w+):"
      -- the name may be the script's own
      local is_known, numbers = native.protect(native.emulation.profile_in_use, model)
      if is_known then profiles[model] = numbers end
    end
  end
  return next(profiles) and profiles
end

-- Answers of a run with emulated rows are marked.
function emulated.mark(answers, rows)
  if not labels_of(rows) then return answers end
  for _, one in ipairs(answers) do
    if one.answer and one.answer ~= "" then one.answer = "Emulated: " .. one.answer end
  end
  return answers
end

return emulated
