-- What the diagnosis of a row expects of each remedy: how many times as good the row becomes, and is at most.
-- core/diagnose/remedy_effect says which parts of a step a remedy removes.
local native = require("gpubench.native")._native

local promises = {}

-- Old over new step time where a share of the step disappears (Amdahl's law).
local function times_without(share)
  return share < 1 and 1 / (1 - math.max(share, 0)) or math.huge
end

local function proposed(row)
  local by_name = {}
  for _, finding in ipairs(native.findings(row)) do
    for _, remedy in ipairs(finding.remedies) do by_name[remedy.name] = remedy end
  end
  return by_name
end

-- sets: those whose remedies are measured, each with divides: by how much its change divides what it removes; all of it
-- disappears where there is none. Returns { [remedy] = { value, low, high, at_most } }; a remedy that no finding
-- proposes has none, nor has a row without steps.
function promises.of(row, sets)
  local by_name, list = row and proposed(row) or {}, {}
  for _, set in ipairs(sets) do
    local remedy = by_name[set.name]
    local part = 1 - 1 / (set.divides or math.huge)
    if remedy and remedy.expected_gain_share > 0 then
      list[set.name] = {
        value = times_without(part * remedy.expected_gain_share),
        low = times_without(part * remedy.expected_gain_low_share),
        high = times_without(part * remedy.expected_gain_high_share),
        -- So many examples take no less time than one.
        at_most = math.min(remedy.at_most_times_as_fast or math.huge, set.divides or math.huge),
      }
    end
  end
  return list
end

return promises
